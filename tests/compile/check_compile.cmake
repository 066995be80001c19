# Compiles SOURCE without output. As it stands it must compile; with VIOLATION defined it must not,
# and for the reason EXPECT.
#
# cmake -DCOMPILER=… -DFLAGS=a|b|… -DSOURCE=… [-DVIOLATION=… -DEXPECT=…] -P check_compile.cmake
string(REPLACE "|" ";" flags "${FLAGS}")
if(VIOLATION)
  list(APPEND flags -D${VIOLATION})
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C
    "${COMPILER}" ${flags} -fsyntax-only -fdiagnostics-color=never "${SOURCE}"
  RESULT_VARIABLE code ERROR_VARIABLE messages)

if(NOT VIOLATION)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "this must compile:\n${messages}")
  endif()
elseif(code EQUAL 0)
  message(FATAL_ERROR "${VIOLATION} compiles")
elseif(NOT messages MATCHES "${EXPECT}")
  message(FATAL_ERROR "${VIOLATION} does not compile, but not because of '${EXPECT}':\n${messages}")
endif()
