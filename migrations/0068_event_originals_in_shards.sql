-- Events of the first database that came to a shard with their ids of there: those below the shard's own.
UPDATE `events` SET `original_id` = `id`
WHERE `id` < (SELECT `shard_id` * 68719476736 FROM `shard_copies` LIMIT 1);
