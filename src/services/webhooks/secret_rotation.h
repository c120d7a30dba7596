// The rotation of a signing secret, of a store or of a subscription (spec 2.2, 10.3). The secret that it
// replaces stays in force for the overlap as the previous one. Where the secret is rotated again before that
// has ended, the new one may never have reached the other side (its answer was lost, or it has a typing
// error): so the one before stays too, as the older one, until its own end.
//
// All who use or show the older secret ask end_of_older_secret(): nodes of a version before it clear the previous
// secret alone when an overlap of 0 ends all former ones.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "crypto/digest.h"
#include "crypto/service_cipher.h"

namespace presetbridge::services {

// When the older secret of a row, or of a copy of it, ends; nothing: there is none, or a node of an older version
// has ended all former ones.
template <class Row>
std::optional<Timestamp> end_of_older_secret(const Row& row) {
  return row.previous_secret_expires_at ? row.older_secret_expires_at : std::nullopt;
}

// Row: storage::IntegrationRow or storage::SubscriptionRow. An overlap of 0 ends all former secrets; a third
// rotation within the overlap ends the oldest one.
template <class Row>
void rotate_secret(Row& row, crypto::Bytes encrypted, Millis overlap, Timestamp now) {
  if (overlap == Millis{0}) {
    row.encrypted_previous_secret.clear();
    row.previous_secret_expires_at.reset();
    row.encrypted_older_secret.clear();
    row.older_secret_expires_at.reset();
  } else {
    if (row.previous_secret_expires_at > now) {
      row.encrypted_older_secret = std::move(row.encrypted_previous_secret);
      row.older_secret_expires_at = row.previous_secret_expires_at;
    } else if (end_of_older_secret(row) <= now) {
      row.encrypted_older_secret.clear();
      row.older_secret_expires_at.reset();
    }
    row.encrypted_previous_secret = std::move(row.encrypted_secret);
    row.previous_secret_expires_at = now + overlap;
  }
  row.encrypted_secret = std::move(encrypted);
}

// Whether the row's secret is `text`; false where it cannot be decrypted.
template <class Row>
bool has_secret(const Row& row, const crypto::ServiceCipher& cipher, const crypto::ValuePlace& place,
                std::string_view text) {
  const auto current = cipher.decrypt(place, row.encrypted_secret);
  return current && crypto::equal_constant_time(current->reveal(), text);
}

// When the last of the former secrets ends; nothing: there is none.
template <class Row>
std::optional<Timestamp> end_of_former_secrets(const Row& row) {
  return std::max(row.previous_secret_expires_at, end_of_older_secret(row));
}

}  // namespace presetbridge::services
