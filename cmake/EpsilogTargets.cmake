# Flags every target shares. Contraction and fast-math would change correctly rounded
# operations, on which the proofs of the mechanisms stand, so both are fixed off.
add_library(epsilog_flags INTERFACE)
target_compile_features(epsilog_flags INTERFACE cxx_std_20)
target_compile_options(epsilog_flags INTERFACE -fno-fast-math -ffp-contract=off)
if(EPSILOG_WARNINGS_ARE_ERRORS)
  target_compile_options(epsilog_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Wdouble-promotion
    -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
endif()
if(EPSILOG_SANITIZERS)
  target_compile_options(epsilog_flags INTERFACE
    -fsanitize=${EPSILOG_SANITIZERS} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(epsilog_flags INTERFACE -fsanitize=${EPSILOG_SANITIZERS})
endif()

# epsilog_library(<layer> HEADERS … SOURCES … PUBLIC … PRIVATE …)
#
# One target a folder. Its public headers live under <layer>/include, which only targets that
# link the layer can see: an include against the arrows of ARCHITECTURE.md does not compile.
function(epsilog_library layer)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target epsilog_${layer})
  add_library(${target} STATIC)
  add_library(epsilog::${layer} ALIAS ${target})
  target_sources(${target}
    PRIVATE ${ARG_SOURCES}
    PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${ARG_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:epsilog_flags>)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${layer}
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ON)
  install(TARGETS ${target} EXPORT epsilog-targets FILE_SET HEADERS)
endfunction()
