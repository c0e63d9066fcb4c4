-- Who is told of a package that is linked to a repository is told in the repository's database. An event of a shard about a package whose
-- repository is in another database is noted for that one, and is not due here.
CREATE TRIGGER `events_move_linked` AFTER INSERT ON `events`
WHEN new.`type` IN ('package.created', 'package.deleted') AND new.`repo_id` IS NOT NULL
AND EXISTS (
	SELECT 1 FROM `shard_copies` JOIN `repositories` ON `repositories`.`id` = new.`repo_id`
	WHERE `repositories`.`shard` <> `shard_copies`.`shard_id`
) BEGIN
	INSERT INTO `relayed_events` (`shard_id`, `event_id`, `dispatch_at`, `consequences_at`)
	SELECT `shard`, new.`id`, new.`dispatch_at`, new.`consequences_at` FROM `repositories` WHERE `id` = new.`repo_id`;
	UPDATE `events` SET `dispatch_at` = NULL, `consequences_at` = NULL WHERE `id` = new.`id`;
END;
