# Builds shared libraries and the command in release, moves what is installed elsewhere, and uses it there.
#
# cmake -DSOURCE=… -DWORK=… -DCONSUMER=… -DPYTHON=… -DCOMPILER=… -DGENERATOR=… -DLAUNCHER=… -DVERSION=…
#       -P shared_libraries.cmake
set(BUILD "${WORK}/build_shared")
set(BUILD_TYPE Release)
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" --preset command -B "${BUILD}" -DBUILD_SHARED_LIBS=ON
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" RESULT_VARIABLE failed OUTPUT_VARIABLE printed)
if(failed)
  message(FATAL_ERROR "${printed}")
endif()
set(WORK "${WORK}/installed")
set(BUILD_SHARED ON)
include("${CMAKE_CURRENT_LIST_DIR}/install_and_consume.cmake")

# Every library has its name with the version that its headers go with, and nothing names the place it was built.
include("${CMAKE_CURRENT_LIST_DIR}/names_path.cmake")
string(REGEX REPLACE "[.][0-9]+$" "" soversion "${VERSION}")
foreach(layer accounting mechanisms ledger engine)
  file(GLOB_RECURSE library "${WORK}/prefix/*/libepsilog_${layer}.so.${VERSION}")
  require_names("${library}" "libepsilog_${layer}.so.${soversion}")
  forbid_names("${library}" "${SOURCE}" "${BUILD}")
endforeach()
forbid_names("${WORK}/prefix/bin/epsilog" "${SOURCE}" "${BUILD}")

# What is installed is moved as a whole.
file(RENAME "${WORK}/prefix" "${WORK}/moved")
run("${WORK}/moved/bin/epsilog" --version)
