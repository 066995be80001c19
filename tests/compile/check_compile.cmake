# Compiles SOURCE without output. As it stands it must compile; with VIOLATION defined it must not,
# and for the reason EXPECT.
#
# What SOURCE includes is precompiled as INCLUDES once that has compiled, if there are violations to follow: reading it
# again for each is nearly all of their time. What is not precompiled, or cannot be used so, is read as it stands.
#
# cmake -DCOMPILER=… -DFLAGS=a|b|… -DSOURCE=… -DINCLUDES=… [-DVIOLATION=… -DEXPECT=…] -P check_compile.cmake
string(REPLACE "|" ";" flags "${FLAGS}")
set(standing ${flags})
if(VIOLATION)
  list(APPEND flags -D${VIOLATION})
  if(EXISTS "${INCLUDES}.gch")
    list(APPEND flags -include "${INCLUDES}")
  endif()
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C
    "${COMPILER}" ${flags} -fsyntax-only -fdiagnostics-color=never "${SOURCE}"
  RESULT_VARIABLE code ERROR_VARIABLE messages)

if(NOT VIOLATION)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "this must compile:\n${messages}")
  endif()
  if(INCLUDES)
    file(STRINGS "${SOURCE}" lines REGEX "^#include")
    list(JOIN lines "\n" lines)
    file(WRITE "${INCLUDES}" "${lines}\n")
    execute_process(COMMAND "${COMPILER}" ${standing} -x c++-header "${INCLUDES}" -o "${INCLUDES}.gch"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
elseif(code EQUAL 0)
  message(FATAL_ERROR "${VIOLATION} compiles")
elseif(NOT messages MATCHES "${EXPECT}")
  message(FATAL_ERROR "${VIOLATION} does not compile, but not because of '${EXPECT}':\n${messages}")
endif()
