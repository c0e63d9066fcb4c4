CREATE TABLE `event_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`last_id` integer NOT NULL
);
