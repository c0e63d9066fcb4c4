-- What a shard owns is copied back from it. Shards that have the row of a repository of another one get what they need of that.
DROP TRIGGER `repositories_copied_update`;
--> statement-breakpoint
CREATE TRIGGER `repositories_copied_update` AFTER UPDATE OF `id`, `owner_id`, `owner_lower_name`, `name`, `lower_name`, `description`, `website`, `is_private`, `visibility`, `topics`, `is_template`, `archived_at`, `parent_id`, `is_fork`, `object_name`, `network_name`, `trust_model`, `has_code`, `has_issues`, `has_pull_requests`, `has_releases`, `has_wiki`, `has_projects`, `has_packages`, `has_actions`, `projects_mode`, `external_wiki_url`, `pull_settings`, `issue_settings`, `avatar_hash`, `created_at` ON `repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(new.`id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_owned_update` AFTER UPDATE OF `is_empty`, `default_branch`, `is_mirror`, `origin` ON `repositories`
WHEN new.`is_empty` IS NOT old.`is_empty` OR new.`default_branch` IS NOT old.`default_branch` OR new.`is_mirror` IS NOT old.`is_mirror` OR new.`origin` IS NOT old.`origin` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(new.`id`), `shard_id` FROM `shard_repositories`
	WHERE `repo_id` = new.`id` AND `shard_id` <> new.`shard`;
END;
