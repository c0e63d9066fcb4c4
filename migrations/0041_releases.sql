DROP INDEX `events_activity_actor`;--> statement-breakpoint
DROP INDEX `events_activity_repo`;--> statement-breakpoint
DROP INDEX `events_activity_owner`;--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'release.published');--> statement-breakpoint
ALTER TABLE `attachments` ADD `sha256` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `notifications` ADD `release_id` integer REFERENCES releases(id) ON DELETE cascade;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_release` ON `notifications` (`user_id`,`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_of_release` ON `notifications` (`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `releases_of_repository` ON `releases` (`repo_id`,`created_at`,`id`,`is_draft`,`is_prerelease`);--> statement-breakpoint
ALTER TABLE `releases` DROP COLUMN `commit_oid`;