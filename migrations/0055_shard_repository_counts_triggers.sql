-- The numbers of repositories in shards follow from their rows.
UPDATE `shards` SET `repository_count` = (SELECT count(*) FROM `repositories` WHERE `shard` = `shards`.`id`);
--> statement-breakpoint
CREATE TRIGGER `repositories_shard_count_insert` AFTER INSERT ON `repositories`
WHEN new.`shard` <> 0 BEGIN
	UPDATE `shards` SET `repository_count` = `repository_count` + 1 WHERE `id` = new.`shard`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_shard_count_update` AFTER UPDATE OF `shard` ON `repositories`
WHEN new.`shard` <> old.`shard` BEGIN
	UPDATE `shards` SET `repository_count` = `repository_count` + 1 WHERE `id` = new.`shard`;
	UPDATE `shards` SET `repository_count` = `repository_count` - 1 WHERE `id` = old.`shard`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_shard_count_delete` AFTER DELETE ON `repositories`
WHEN old.`shard` <> 0 BEGIN
	UPDATE `shards` SET `repository_count` = `repository_count` - 1 WHERE `id` = old.`shard`;
END;
