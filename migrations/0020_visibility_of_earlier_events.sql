-- Events from before their visibility was recorded have the repository's present visibility.
UPDATE `events` SET
  `visibility` = coalesce(
    (SELECT `visibility` FROM `repositories` WHERE `repositories`.`id` = `events`.`repo_id`),
    'private'
  ),
  `is_private` = coalesce(
    (SELECT `is_private` FROM `repositories` WHERE `repositories`.`id` = `events`.`repo_id`),
    true
  );
--> statement-breakpoint
-- What precedes the last time at which a repository became public happened while it was private.
UPDATE `events` SET `visibility` = 'private', `is_private` = true
FROM (
  SELECT `repo_id` AS `published_id`, max(`id`) AS `published_at`
  FROM `events`
  WHERE `type` = 'repository.visibility_changed' AND NOT (`payload` ->> 'isPrivate')
  GROUP BY `repo_id`
)
WHERE `events`.`repo_id` = `published_id` AND `events`.`id` < `published_at`;
