CREATE TABLE `relayed_events` (
	`shard_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`dispatch_at` integer,
	`consequences_at` integer,
	PRIMARY KEY(`shard_id`, `event_id`)
);
