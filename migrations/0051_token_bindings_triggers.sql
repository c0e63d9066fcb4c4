-- In place of the foreign key, which the copies could not satisfy.
CREATE TRIGGER `access_tokens_repositories_delete` AFTER DELETE ON `access_tokens` BEGIN
	DELETE FROM `access_token_repositories` WHERE `token_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `access_token_repositories_copied_insert` AFTER INSERT ON `access_token_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'access_token_repositories', json_array(new.`token_id`, new.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `access_token_repositories_copied_update` AFTER UPDATE OF `token_id`, `repo_id` ON `access_token_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'access_token_repositories', json_array(old.`token_id`, old.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'access_token_repositories', json_array(new.`token_id`, new.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `access_token_repositories_copied_delete` AFTER DELETE ON `access_token_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'access_token_repositories', json_array(old.`token_id`, old.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
DROP TRIGGER `shard_repositories_insert`;
--> statement-breakpoint
-- As before, with the tokens that are bound to the repository.
CREATE TRIGGER `shard_repositories_insert` AFTER INSERT ON `shard_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(`id`), new.`shard_id` FROM `repositories` WHERE `id` = new.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_redirects', json_array(`owner_id`, `lower_name`), new.`shard_id` FROM `repository_redirects` WHERE `repo_id` = new.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_transfers', json_array(`repo_id`), new.`shard_id` FROM `repository_transfers` WHERE `repo_id` = new.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'team_repositories', json_array(`team_id`, `repo_id`), new.`shard_id` FROM `team_repositories` WHERE `repo_id` = new.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'collaborations', json_array(`repo_id`, `user_id`), new.`shard_id` FROM `collaborations` WHERE `repo_id` = new.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'access_token_repositories', json_array(`token_id`, `repo_id`), new.`shard_id` FROM `access_token_repositories` WHERE `repo_id` = new.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(`id`), new.`shard_id` FROM `repositories`
	WHERE `parent_id` = new.`repo_id` AND EXISTS (
		SELECT 1 FROM `shard_repositories` WHERE `shard_id` = new.`shard_id` AND `repo_id` = `repositories`.`id`
	);
END;
