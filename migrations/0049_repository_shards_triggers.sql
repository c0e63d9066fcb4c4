-- The shard of a new repository gets copies of its row and its parent's, and the shard of its parent one of its row.
CREATE TRIGGER `repositories_shard_insert` AFTER INSERT ON `repositories`
WHEN new.`shard` <> 0 BEGIN
	INSERT OR IGNORE INTO `shard_repositories` (`shard_id`, `repo_id`)
	SELECT new.`shard`, `id` FROM `repositories` WHERE `id` IN (new.`id`, new.`parent_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_shard_parent` AFTER INSERT ON `repositories`
WHEN new.`parent_id` IS NOT NULL BEGIN
	INSERT OR IGNORE INTO `shard_repositories` (`shard_id`, `repo_id`)
	SELECT `shard`, new.`id` FROM `repositories` WHERE `id` = new.`parent_id` AND `shard` <> 0;
END;
