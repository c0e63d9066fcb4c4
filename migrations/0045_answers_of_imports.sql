CREATE TABLE `import_answers` (
	`import_id` integer NOT NULL,
	`url` text NOT NULL,
	`answer` text NOT NULL,
	PRIMARY KEY(`import_id`, `url`),
	FOREIGN KEY (`import_id`) REFERENCES `imports`(`id`) ON UPDATE no action ON DELETE cascade
);
