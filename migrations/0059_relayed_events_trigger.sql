-- What follows from an event of a repository follows in the database with its own data. An event of the first database about a
-- repository of a shard is noted for that shard, and is not due here. The event of a deletion names the shard itself.
CREATE TRIGGER `events_relay` AFTER INSERT ON `events`
WHEN new.`repo_id` IS NOT NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `relayed_events` (`shard_id`, `event_id`, `dispatch_at`, `consequences_at`)
	SELECT `shard_id`, new.`id`, new.`dispatch_at`, new.`consequences_at` FROM (
		SELECT coalesce(
			(SELECT `shard` FROM `repositories` WHERE `id` = new.`repo_id`),
			CASE new.`type` WHEN 'repository.deleted' THEN new.`payload` ->> '$.shard' END,
			0
		) AS `shard_id`
	)
	WHERE `shard_id` <> 0;
	UPDATE `events` SET `dispatch_at` = NULL, `consequences_at` = NULL
	WHERE `id` = new.`id`
		AND (`dispatch_at` IS NOT NULL OR `consequences_at` IS NOT NULL)
		AND (
			EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id` AND `shard` <> 0)
			OR new.`type` = 'repository.deleted' AND new.`payload` ->> '$.shard' <> 0
		);
END;
