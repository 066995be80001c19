#include "out_of_memory.hpp"

#include <gmp.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "exit_codes.hpp"

namespace epsilog::command {
namespace {

[[noreturn]] void end_process() noexcept {
  for (const std::string_view part : {std::string_view("epsilog: "), kOutOfMemory, std::string_view("\n")}) {
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  _exit(static_cast<int>(ExitCode::try_again));
}

void* allocate(std::size_t size) {
  if (void* const memory = std::malloc(size)) return memory;
  end_process();
}

void* reallocate(void* memory, std::size_t, std::size_t size) {
  if (void* const moved = std::realloc(memory, size)) return moved;
  end_process();
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end_process();
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void end_without_memory_where_nothing_else_can() noexcept {
  mp_set_memory_functions(allocate, reallocate, nullptr);
  std::set_terminate(on_terminate);
}

}  // namespace epsilog::command
