# The command of one build folder is linked as its option says today, whatever it said before: who is told to build
# with the shared libraries, so that the distribution's repairs reach him, must get them.
#
# cmake -DSOURCE=… -DWORK=… -DCOMPILER=… -P archives_or_shared.cmake
function(link_of_command option result)
  execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}" -B "${WORK}" -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_CXX_COMPILER=${COMPILER}" -DEPSILOG_BUILD_TESTS=OFF -DEPSILOG_STATIC_LIBRARIES=${option}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "configuring ended with ${code}:\n${output}")
  endif()
  execute_process(COMMAND ninja -C "${WORK}" -t commands -s apps/epsilog/epsilog
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "ninja ended with ${code}:\n${output}")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(suffix_ON a)
set(suffix_OFF so)
foreach(option ON OFF ON)
  link_of_command(${option} link)
  file(STRINGS "${WORK}/CMakeCache.txt" archives REGEX "^EPSILOG_ARCHIVES_BEFORE:INTERNAL=ON$")
  if(option AND NOT archives)
    message("not all libraries have archives here")
    set(suffix_ON so)
  endif()
  foreach(library sqlite3 nettle sodium mpfr gmp)
    # One of the two and not both: a program has one SQLite, which knows of all its locks.
    string(REGEX MATCHALL "lib${library}\\.[a-z]+" linked "${link}")
    list(REMOVE_DUPLICATES linked)
    if(NOT linked STREQUAL "lib${library}.${suffix_${option}}")
      message(FATAL_ERROR "EPSILOG_STATIC_LIBRARIES=${option} links ${linked}:\n${link}")
    endif()
  endforeach()
endforeach()
