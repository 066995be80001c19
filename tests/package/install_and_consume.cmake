# Installs the build into an empty prefix and uses it from there, as a stranger's project would.
#
# cmake -DBUILD=… -DCONSUMER=… -DSOURCE=… -DPYTHON=… -DWORK=… -DCOMPILER=… -DGENERATOR=…
#       [-DFLAGS=…] [-DLAUNCHER=…] [-DFOUND_ONLY=ON] -DBUILD_TYPE=… -DVERSION=… -P install_and_consume.cmake
#
# With FOUND_ONLY the project is configured and not built, and docs/library.md is not followed.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit ${code} from: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/readme" "${WORK}/library")

run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
foreach(file bin/epsilog include/epsilog/epsilog.hpp include/epsilog/engine/engine.hpp
    include/epsilog/testing/noisy_matchers.hpp share/epsilog/policy.schema.json
    share/doc/epsilog/LICENSE share/doc/epsilog/THIRD_PARTY.md)
  if(NOT EXISTS "${WORK}/prefix/${file}")
    message(FATAL_ERROR "cmake --install did not install ${file}")
  endif()
endforeach()

run("${WORK}/prefix/bin/epsilog" --version)
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "epsilog --version says '${output}', not ${VERSION}")
endif()

run("${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/check_readme" "${SOURCE}/README.md" --extract-cpp "${WORK}/readme/example.cpp")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}"
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
  "-DREADME_SOURCE=${WORK}/readme/example.cpp")
if(NOT FOUND_ONLY)
  run("${CMAKE_COMMAND}" --build "${WORK}/build")
  run("${WORK}/build/consumer_tests")
  set(example --then "${WORK}/build/readme_example")
endif()

# The example of README.md runs where a policy.yaml and its data lie, as README.md says.
run("${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/check_readme" "${SOURCE}/README.md" --command "${WORK}/prefix/bin/epsilog"
  --directory "${WORK}/readme" ${example})
message("${output}")
if(FOUND_ONLY)
  return()
endif()

# docs/library.md is followed as it stands, by a reader who has this prefix, compiler and generator.
file(GLOB_RECURSE pc "${WORK}/prefix/*/epsilog.pc")
cmake_path(GET pc PARENT_PATH pc_directory)
cmake_path(GET pc_directory PARENT_PATH library_directory)
if(BUILD_SHARED)
  set(loader "LD_LIBRARY_PATH=${library_directory}")  # pkg-config names no place to search when a program starts
endif()
run("${CMAKE_COMMAND}" -E env ${loader} "CMAKE_PREFIX_PATH=${WORK}/prefix" "PKG_CONFIG_PATH=${pc_directory}"
  "CMAKE_GENERATOR=${GENERATOR}" "CXX=${COMPILER}" "CXXFLAGS=${FLAGS}" "CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  "${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/check_readme" "${SOURCE}/docs/library.md"
  --command "${WORK}/prefix/bin/epsilog" --directory "${WORK}/library")
message("${output}")
