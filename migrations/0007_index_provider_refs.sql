-- An event of the provider names its own object, and the charge behind it has
-- to be found without reading every operation.

-- +goose Up
CREATE INDEX operations_provider_ref ON operations (provider_ref) WHERE provider_ref IS NOT NULL;
