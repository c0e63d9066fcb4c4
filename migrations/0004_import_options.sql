ALTER TABLE `imports` RENAME COLUMN `wishes` TO `options`;
