-- Rules from before merge queues have none.

UPDATE `branch_protections`
SET `settings` = json_set(
	`settings`,
	'$.isMergeQueueEnabled', json('false'),
	'$.mergeQueueStyle', '',
	'$.mergeQueueBatchSize', 5,
	'$.mergeQueueWaitMinutes', 60
)
WHERE `settings` ->> 'isMergeQueueEnabled' IS NULL;
