-- Hooks, labels and rules of accounts and of the service are copied to shards; those of a repository are its own data.
CREATE TRIGGER `hooks_copied_insert` AFTER INSERT ON `hooks`
WHEN new.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('hooks', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `hooks_copied_update` AFTER UPDATE OF `id`, `level`, `owner_id`, `approver_id`, `type`, `url`, `content_type`, `chat`, `secret`, `authorization`, `branch_filter`, `events`, `is_active`, `paused_at`, `created_at`, `updated_at` ON `hooks`
WHEN new.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('hooks', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `hooks_copied_delete` AFTER DELETE ON `hooks`
WHEN old.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('hooks', json_array(old.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `labels_copied_insert` AFTER INSERT ON `labels`
WHEN new.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('labels', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `labels_copied_update` AFTER UPDATE OF `id`, `org_id`, `name`, `color`, `description`, `is_exclusive`, `archived_at`, `created_at`, `updated_at` ON `labels`
WHEN new.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('labels', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `labels_copied_delete` AFTER DELETE ON `labels`
WHEN old.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('labels', json_array(old.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `branch_protections_copied_insert` AFTER INSERT ON `branch_protections`
WHEN new.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('branch_protections', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `branch_protections_copied_update` AFTER UPDATE OF `id`, `owner_id`, `name`, `repository_patterns`, `priority`, `is_priority_explicit`, `settings`, `created_at`, `updated_at` ON `branch_protections`
WHEN new.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('branch_protections', json_array(new.`id`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `branch_protections_copied_delete` AFTER DELETE ON `branch_protections`
WHEN old.`repo_id` IS NULL AND EXISTS (SELECT 1 FROM `shards`) BEGIN
	INSERT INTO `copied_changes` (`table_name`, `key`, `shard_id`) VALUES ('branch_protections', json_array(old.`id`), 0);
END;
