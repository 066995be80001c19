# What a release is made of names no path of the machine that built it: one object stands for all, for every target
# has the same flags.
#
# A compiler cache may rewrite paths before the compiler sees them, so there is none here.
#
# cmake -DSOURCE=… -DWORK=… -DCOMPILER=… -P no_build_paths.cmake
set(object accounting/CMakeFiles/epsilog_accounting_charging.dir/charging/filter.cpp.o)
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" --preset command -B "${WORK}" -DCMAKE_BUILD_TYPE=RelWithDebInfo
  "-DCMAKE_CXX_COMPILER=${COMPILER}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" --target ${object}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
include("${CMAKE_CURRENT_LIST_DIR}/names_path.cmake")
require_names("${WORK}/${object}" "accounting/charging/filter.cpp")  # of an invariant, and of the debugger
forbid_names("${WORK}/${object}" "${SOURCE}" "${WORK}")
