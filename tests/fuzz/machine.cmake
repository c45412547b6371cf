# Included by tests/CMakeLists.txt when ORRERY_FUZZERS is on. The sources of
# machine/ that read input are built again, instrumented.
set(machine_sanitizers -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=undefined -O1 -g1)
file(GLOB machine_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/machine/*.cpp)
add_library(orrery_machine_instrumented STATIC ${machine_sources})
add_dependencies(orrery_machine_instrumented orrery_machine) # generated files
target_include_directories(orrery_machine_instrumented PRIVATE
  $<TARGET_PROPERTY:orrery_machine,INCLUDE_DIRECTORIES>)
target_compile_options(orrery_machine_instrumented PUBLIC ${machine_sanitizers})

foreach(name Machine Program)
  string(TOLOWER orrery_${name}_fuzzer target)
  add_executable(${target} ${CMAKE_CURRENT_LIST_DIR}/${name}Fuzzer.cpp)
  target_link_libraries(${target} PRIVATE orrery_machine_instrumented)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer,address,undefined)
endforeach()

# Writes the seeds again, after a change of the format.
add_executable(orrery_program_corpus
               ${CMAKE_CURRENT_LIST_DIR}/ProgramCorpus.cpp)
target_link_libraries(orrery_program_corpus PRIVATE orrery_machine)
