# Writes which program this is, when that changed. Called at every build.
if(NOT EPSILOG_COMMIT)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE EPSILOG_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(EPSILOG_COMMIT unknown)
  else()
    execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
    if(changed)
      string(APPEND EPSILOG_COMMIT "+")
    endif()
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
