-- Copied tables enter each change into the log while there are shards; those about a repository, for the shards that have it.
CREATE TRIGGER `users_copied_insert` AFTER INSERT ON `users`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('users', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `users_copied_update` AFTER UPDATE OF `id`, `kind`, `name`, `lower_name`, `full_name`, `email`, `is_email_hidden`, `description`, `website`, `location`, `language`, `theme`, `diff_view_style`, `is_activity_hidden`, `email_notifications`, `visibility`, `is_admin`, `is_active`, `is_restricted`, `is_login_prohibited`, `must_change_password`, `has_totp`, `has_webauthn`, `can_create_organization`, `can_repo_admin_change_team_access`, `repo_count_max`, `login_source_id`, `login_name`, `avatar_hash`, `created_at` ON `users`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('users', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `users_copied_delete` AFTER DELETE ON `users`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('users', json_array(old.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `user_redirects_copied_insert` AFTER INSERT ON `user_redirects`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('user_redirects', json_array(new.`lower_name`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `user_redirects_copied_update` AFTER UPDATE OF `lower_name`, `user_id` ON `user_redirects`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('user_redirects', json_array(old.`lower_name`), 0);
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('user_redirects', json_array(new.`lower_name`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `user_redirects_copied_delete` AFTER DELETE ON `user_redirects`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('user_redirects', json_array(old.`lower_name`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `blocks_copied_insert` AFTER INSERT ON `blocks`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('blocks', json_array(new.`blocker_id`, new.`blocked_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `blocks_copied_update` AFTER UPDATE OF `blocker_id`, `blocked_id`, `created_at` ON `blocks`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('blocks', json_array(old.`blocker_id`, old.`blocked_id`), 0);
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('blocks', json_array(new.`blocker_id`, new.`blocked_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `blocks_copied_delete` AFTER DELETE ON `blocks`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('blocks', json_array(old.`blocker_id`, old.`blocked_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `organization_members_copied_insert` AFTER INSERT ON `organization_members`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('organization_members', json_array(new.`org_id`, new.`user_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `organization_members_copied_update` AFTER UPDATE OF `org_id`, `user_id`, `is_public` ON `organization_members`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('organization_members', json_array(old.`org_id`, old.`user_id`), 0);
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('organization_members', json_array(new.`org_id`, new.`user_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `organization_members_copied_delete` AFTER DELETE ON `organization_members`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('organization_members', json_array(old.`org_id`, old.`user_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `teams_copied_insert` AFTER INSERT ON `teams`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('teams', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `teams_copied_update` AFTER UPDATE OF `id`, `org_id`, `name`, `lower_name`, `description`, `access`, `units`, `includes_all_repositories`, `can_create_org_repo`, `created_at` ON `teams`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('teams', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `teams_copied_delete` AFTER DELETE ON `teams`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('teams', json_array(old.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `team_members_copied_insert` AFTER INSERT ON `team_members`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('team_members', json_array(new.`team_id`, new.`user_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `team_members_copied_update` AFTER UPDATE OF `team_id`, `user_id` ON `team_members`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('team_members', json_array(old.`team_id`, old.`user_id`), 0);
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('team_members', json_array(new.`team_id`, new.`user_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `team_members_copied_delete` AFTER DELETE ON `team_members`
WHEN EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('team_members', json_array(old.`team_id`, old.`user_id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_copied_insert` AFTER INSERT ON `repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(new.`id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_copied_update` AFTER UPDATE OF `id`, `owner_id`, `owner_lower_name`, `name`, `lower_name`, `description`, `website`, `is_private`, `visibility`, `topics`, `is_template`, `is_mirror`, `origin`, `archived_at`, `parent_id`, `is_fork`, `object_name`, `network_name`, `default_branch`, `trust_model`, `has_code`, `has_issues`, `has_pull_requests`, `has_releases`, `has_wiki`, `has_projects`, `has_packages`, `has_actions`, `projects_mode`, `external_wiki_url`, `pull_settings`, `issue_settings`, `avatar_hash`, `created_at` ON `repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(new.`id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_redirects_copied_insert` AFTER INSERT ON `repository_redirects` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_redirects', json_array(new.`owner_id`, new.`lower_name`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_redirects_copied_update` AFTER UPDATE OF `owner_id`, `lower_name`, `repo_id` ON `repository_redirects` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_redirects', json_array(old.`owner_id`, old.`lower_name`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_redirects', json_array(new.`owner_id`, new.`lower_name`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_redirects_copied_delete` AFTER DELETE ON `repository_redirects` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_redirects', json_array(old.`owner_id`, old.`lower_name`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_transfers_copied_insert` AFTER INSERT ON `repository_transfers` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_transfers', json_array(new.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_transfers_copied_update` AFTER UPDATE OF `repo_id`, `doer_id`, `recipient_id`, `team_ids`, `created_at` ON `repository_transfers` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_transfers', json_array(new.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_transfers_copied_delete` AFTER DELETE ON `repository_transfers` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repository_transfers', json_array(old.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `team_repositories_copied_insert` AFTER INSERT ON `team_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'team_repositories', json_array(new.`team_id`, new.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `team_repositories_copied_update` AFTER UPDATE OF `team_id`, `repo_id` ON `team_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'team_repositories', json_array(old.`team_id`, old.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'team_repositories', json_array(new.`team_id`, new.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `team_repositories_copied_delete` AFTER DELETE ON `team_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'team_repositories', json_array(old.`team_id`, old.`repo_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `collaborations_copied_insert` AFTER INSERT ON `collaborations` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'collaborations', json_array(new.`repo_id`, new.`user_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `collaborations_copied_update` AFTER UPDATE OF `repo_id`, `user_id`, `access`, `created_at` ON `collaborations` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'collaborations', json_array(old.`repo_id`, old.`user_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'collaborations', json_array(new.`repo_id`, new.`user_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `collaborations_copied_delete` AFTER DELETE ON `collaborations` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'collaborations', json_array(old.`repo_id`, old.`user_id`), `shard_id` FROM `shard_repositories` WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
-- What a shard is to have of a repository when it gets it, and of its forks, which refer to it.
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
	SELECT 'repositories', json_array(`id`), new.`shard_id` FROM `repositories`
	WHERE `parent_id` = new.`repo_id` AND EXISTS (
		SELECT 1 FROM `shard_repositories` WHERE `shard_id` = new.`shard_id` AND `repo_id` = `repositories`.`id`
	);
END;
--> statement-breakpoint
-- Also when the repository is deleted. In the shard the other rows about it go with its row.
CREATE TRIGGER `shard_repositories_delete` AFTER DELETE ON `shard_repositories` BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('repositories', json_array(old.`repo_id`), old.`shard_id`);
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`)
	SELECT 'repositories', json_array(`id`), old.`shard_id` FROM `repositories`
	WHERE `parent_id` = old.`repo_id` AND EXISTS (
		SELECT 1 FROM `shard_repositories` WHERE `shard_id` = old.`shard_id` AND `repo_id` = `repositories`.`id`
	);
END;
