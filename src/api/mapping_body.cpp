#include "api/mapping_body.h"

namespace presetbridge::api {

services::WantedMapping read_mapping(JsonFields& fields) {
  services::WantedMapping w;
  w.type = domain::parse_match_type(fields.choice("matchType", {"sku", "product_id", "variant_id", "title"}))
               .value_or(domain::MatchType::sku);
  w.match_value = fields.text("matchValue", {.max = 200});
  if (const auto action = fields.optional_choice("action", {"deliver", "ignore"})) {
    w.action = *domain::parse_mapping_action(*action);
  }
  const bool delivers = w.action == domain::MappingAction::deliver;
  w.file_id = fields.optional_text("fileId", {.min = 0, .max = 200}).value_or("");
  w.kind = fields.optional_text("kind", {.min = 0, .max = 40}).value_or("");
  w.file_name = fields.optional_text("fileName", {.min = 0, .max = 200}).value_or("");
  w.stale = fields.optional_flag("stale").value_or(false);
  fields.skip({"id"});  // what GET shows can be sent back as it is
  if (delivers && w.file_id.empty()) fields.problem("fileId", "is required to deliver");
  if (!delivers && !w.file_id.empty()) fields.problem("fileId", "must be left out to ignore");
  return w;
}

std::vector<services::WantedMapping> read_mappings(JsonFields& fields,
                                                   const services::MappingLimits& limits) {
  std::vector<services::WantedMapping> wanted;
  for (auto& mapping : fields.objects("mappings", limits.of_store)) wanted.push_back(read_mapping(mapping));
  return wanted;
}

}  // namespace presetbridge::api
