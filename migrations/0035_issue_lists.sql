DROP INDEX `issue_assignees_user`;--> statement-breakpoint
ALTER TABLE `issue_assignees` ADD `is_pull` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `issue_assignees` ADD `is_closed` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `issue_assignees_newest` ON `issue_assignees` (`user_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE INDEX `issue_assignees_user` ON `issue_assignees` (`user_id`,`repo_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
DROP INDEX `issue_mentions_user`;--> statement-breakpoint
ALTER TABLE `issue_mentions` ADD `is_pull` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `issue_mentions` ADD `is_closed` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `issue_mentions_newest` ON `issue_mentions` (`user_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE INDEX `issue_mentions_user` ON `issue_mentions` (`user_id`,`repo_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
DROP INDEX `issues_by_deadline`;--> statement-breakpoint
DROP INDEX `issues_poster`;--> statement-breakpoint
CREATE INDEX `issues_newest` ON `issues` (`is_pull`,`is_closed`);--> statement-breakpoint
CREATE INDEX `issues_poster_newest` ON `issues` (`poster_id`,`is_pull`,`is_closed`);--> statement-breakpoint
CREATE INDEX `issues_by_deadline` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`deadline_at`);--> statement-breakpoint
CREATE INDEX `issues_poster` ON `issues` (`poster_id`,`repo_id`,`is_pull`,`is_closed`,`number`);--> statement-breakpoint
CREATE INDEX `labels_name` ON `labels` (`name`);--> statement-breakpoint
CREATE INDEX `milestones_all_titles` ON `milestones` (`title`);--> statement-breakpoint
CREATE INDEX `repositories_internal` ON `repositories` (`owner_id`,`visibility`) WHERE not "repositories"."is_private";