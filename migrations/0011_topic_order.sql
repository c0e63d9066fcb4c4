DROP INDEX `topics_popular`;--> statement-breakpoint
CREATE INDEX `topics_popular` ON `topics` ("repo_count" desc,`name`) WHERE "topics"."repo_count" > 0;