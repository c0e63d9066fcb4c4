CREATE TABLE `package_shards` (
	`owner_id` integer PRIMARY KEY NOT NULL,
	`shard` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
