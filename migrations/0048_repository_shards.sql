ALTER TABLE `repositories` ADD `shard` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shards` ADD `is_open` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `shards` ADD `size_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shards` ADD `measured_at` integer;