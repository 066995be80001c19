# epsilog_room(<target> <room> [MAY_INCLUDE <room>…] [HEADERS …] [SOURCES …] [ALONE …] [LINK …])
#
# A room is a folder of <target>: what one reads to change one thing. It is compiled by itself, and its include path
# has its own folder, those of the rooms it may include, and the libraries it is built on (LINK); nothing else of
# <target> is found (tests/compile). That no room is reached in a circle follows from each being declared after
# those it may include. Files are named from the room; HEADERS are public: they lie under <room>/include and are
# installed with <target>. No two headers have the same name, so that an include names one file wherever it stands.
# Where several sources are compiled as one (epsilog_compile_together), those of ALONE are not: a name that is theirs
# is another's too.
# The folders of all are in the property EPSILOG_ROOMS, for tests, which may look into each.
function(epsilog_room target room)
  cmake_parse_arguments(ARG "" "" "MAY_INCLUDE;HEADERS;SOURCES;ALONE;LINK" ${ARGN})
  set(objects ${target}_${room})
  add_library(${objects} OBJECT)
  foreach(sources ARG_SOURCES ARG_ALONE)
    list(TRANSFORM ${sources} PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/${room}/")
  endforeach()
  target_sources(${objects} PRIVATE ${ARG_SOURCES} ${ARG_ALONE})
  set_target_properties(${objects} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  foreach(seen IN LISTS room ARG_MAY_INCLUDE)
    if(NOT TARGET ${target}_${seen})
      message(FATAL_ERROR "${room} of ${target} may include ${seen}, which is not declared before it")
    endif()
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${seen}")
    target_include_directories(${objects} PRIVATE "${folder}")
    if(IS_DIRECTORY "${folder}/include")
      target_include_directories(${objects} PRIVATE "${folder}/include")
    endif()
  endforeach()
  target_link_libraries(${objects} PRIVATE ${ARG_LINK} epsilog_flags)
  epsilog_hide_build_paths(${objects})
  epsilog_precompile(${objects})
  epsilog_compile_together(${objects} 16 ${ARG_ALONE})
  set_property(TARGET ${target} APPEND PROPERTY EPSILOG_ROOMS "${CMAKE_CURRENT_SOURCE_DIR}/${room}")
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  if(ARG_HEADERS)
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${room}/include")
    list(TRANSFORM ARG_HEADERS PREPEND "${folder}/")
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${folder}" FILES ${ARG_HEADERS})
  endif()
endfunction()
