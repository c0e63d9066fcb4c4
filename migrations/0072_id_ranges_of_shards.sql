-- Until now each shard gives the ids of the range of its number. The first database lists all shards, a shard itself.
INSERT INTO `id_ranges` (`number`, `shard_id`)
SELECT `id`, `id` FROM `shards` WHERE `id` > 0
UNION
SELECT `shard_id`, `shard_id` FROM `shard_copies`;
