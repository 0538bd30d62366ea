-- What is over is deleted in batches, by kind and age; without an index each
-- batch would read every operation that there ever was.

-- +goose Up
CREATE INDEX operations_finished ON operations (kind, finished_at) WHERE state = 'done';
