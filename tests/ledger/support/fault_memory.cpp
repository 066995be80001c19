#include "ledger/support/fault_memory.hpp"

#include <stdexcept>

namespace epsilog::ledger_tests {
namespace {

sqlite3_mem_methods real;  // what SQLite uses otherwise
std::int64_t requests = 0;
std::int64_t refused_at = 0;  // 0: none is
bool all_later = false;
bool refused = false;

bool refuses() {
  if (refused_at == 0) return false;
  ++requests;
  if (requests != refused_at && !(all_later && requests > refused_at)) return false;
  return refused = true;
}

void* allocate(int size) {
  return refuses() ? nullptr : real.xMalloc(size);
}
void* reallocate(void* block, int size) {
  return refuses() ? nullptr : real.xRealloc(block, size);
}

void use(const sqlite3_mem_methods& methods) {
  sqlite3_mem_methods copy = methods;
  if (sqlite3_shutdown() != SQLITE_OK || sqlite3_config(SQLITE_CONFIG_MALLOC, &copy) != SQLITE_OK ||
      sqlite3_initialize() != SQLITE_OK) {
    throw std::runtime_error("SQLite does not take another allocator");
  }
}

}  // namespace

FaultMemory::FaultMemory() {
  if (sqlite3_shutdown() != SQLITE_OK || sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) != SQLITE_OK) {
    throw std::runtime_error("SQLite does not show its allocator");
  }
  sqlite3_mem_methods methods = real;
  methods.xMalloc = allocate;
  methods.xRealloc = reallocate;
  use(methods);
  stop_failing();
}

FaultMemory::~FaultMemory() {
  stop_failing();
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_MALLOC, &real);
  sqlite3_initialize();
}

void FaultMemory::fail_at(std::int64_t nth, bool from_then_on) {
  requests = 0;
  refused_at = nth;
  all_later = from_then_on;
  refused = false;
}

void FaultMemory::stop_failing() {
  refused_at = 0;
}

bool FaultMemory::failed() const {
  return refused;
}

}  // namespace epsilog::ledger_tests
