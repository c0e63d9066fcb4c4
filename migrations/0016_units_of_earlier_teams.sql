-- Teams made before units existed give one mode for everything.
UPDATE `teams` SET `units` = json_object(
  'code', `access`,
  'issues', `access`,
  'ext_issues', `access`,
  'pulls', `access`,
  'releases', `access`,
  'wiki', `access`,
  'ext_wiki', `access`,
  'projects', `access`,
  'packages', `access`,
  'actions', `access`
);
