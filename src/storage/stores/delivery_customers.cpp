#include "storage/stores/delivery_customers.h"

#include <algorithm>
#include <utility>

namespace presetbridge::storage {
namespace {

constexpr Sql kFindCustomer{"SELECT customer_id FROM deliveries WHERE id = $1 AND customer_id IS NOT NULL"};
constexpr Sql kFindNamesakes{
    "SELECT customers.id FROM deliveries JOIN customers ON customers.cloud_account_id ="
    " deliveries.cloud_account_id AND customers.username_key = deliveries.target_username"
    " WHERE deliveries.id = $1"};
constexpr Sql kFindItemCustomers{
    "SELECT DISTINCT customer_id FROM delivery_items WHERE delivery_id = $1 AND customer_id IS NOT NULL"};
constexpr Sql kFindNextCustomer{
    "SELECT customers.id FROM deliveries JOIN accounts ON accounts.id = deliveries.account_id"
    " JOIN customers ON customers.cloud_account_id = accounts.cloud_account_id"
    " AND customers.username_key = deliveries.target_username WHERE deliveries.id = $1"};
constexpr Sql kFindNamed{"SELECT customer_id, target_username FROM deliveries WHERE id = $1"};
constexpr Sql kFindOfName{
    "SELECT customers.id FROM deliveries JOIN accounts ON accounts.id = deliveries.account_id"
    " JOIN customers ON customers.cloud_account_id = accounts.cloud_account_id"
    " AND customers.username_key = $2 WHERE deliveries.id = $1"};
constexpr Sql kCustomerOf{
    "SELECT customer_id FROM deliveries WHERE id = $1 AND cloud_account_id = $2 AND customer_id IS NOT NULL"};
constexpr Sql kSharingWith{
    "SELECT customers.id FROM delivery_items JOIN customers ON customers.id = delivery_items.customer_id"
    " WHERE delivery_items.delivery_id = $1 AND delivery_items.status = 'sharing'"
    " AND customers.cloud_account_id = $2"};

}  // namespace

std::vector<CustomerId> customers_of(Tx& tx, std::span<const DeliveryId> ids,
                                     std::span<const std::string_view> sent_names) {
  const auto flat = params_of(ids);
  std::vector<CustomerId> customers;
  const auto add = [&](std::size_t, const Row& r) { customers.push_back(r.id<CustomerId>(0)); };
  if (sent_names.empty()) {
    tx.query_each(kFindCustomer, 1, flat, add);
  } else {
    std::vector<Param> renamed;
    tx.query_each(kFindNamed, 1, flat, [&](std::size_t n, const Row& r) {
      if (!r.is_null(0)) add(n, r);
      const bool same = !r.is_null(1) && r.text(1) == sent_names[n];
      if (!sent_names[n].empty() && !same) renamed.insert(renamed.end(), {ids[n], sent_names[n]});
    });
    if (!renamed.empty()) tx.query_each(kFindOfName, 2, renamed, add);
  }
  tx.query_each(kFindNamesakes, 1, flat, add);
  tx.query_each(kFindItemCustomers, 1, flat, add);
  std::ranges::sort(customers);
  customers.erase(std::ranges::unique(customers).begin(), customers.end());
  return customers;
}

void hold_customers_of(Tx& tx, std::span<const DeliveryId> ids, std::span<const Buyer> buyers) {
  if (!tx.others_write()) return;
  const auto flat = params_of(ids);
  auto customers = find_buyers(tx, buyers);
  const auto add = [&](std::size_t, const Row& r) { customers.push_back(r.id<CustomerId>(0)); };
  tx.query_each(kFindCustomer, 1, flat, add);
  tx.query_each(kFindNextCustomer, 1, flat, add);
  tx.query_each(kFindItemCustomers, 1, flat, add);
  hold_customers(tx, std::move(customers));
}

std::vector<CustomerId> customers_of(Tx& tx, CloudAccountId cloud_account, std::span<const DeliveryId> ids) {
  std::vector<Param> flat;
  for (const auto id : ids) flat.insert(flat.end(), {id, cloud_account});
  std::vector<CustomerId> customers;
  const auto add = [&](std::size_t, const Row& r) { customers.push_back(r.id<CustomerId>(0)); };
  tx.query_each(kCustomerOf, 2, flat, add);
  tx.query_each(kSharingWith, 2, flat, add);
  std::ranges::sort(customers);
  customers.erase(std::ranges::unique(customers).begin(), customers.end());
  return customers;
}

}  // namespace presetbridge::storage
