/** The JSON type of each field of an object. */
export type Form = Record<string, Kind>;
type Kind = "string" | "number" | "boolean" | "array" | "object" | "null";

export const formOf = (value: object): Form =>
  Object.fromEntries(Object.entries(value).map(([key, field]) => [key, kindOf(field)]));

function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as Kind;
}

const fields = (kind: Kind, names: string): Form =>
  Object.fromEntries(names.split(" ").map((name) => [name, kind]));

export const USER: Form = {
  ...fields("number", "id source_id followers_count following_count starred_repos_count"),
  ...fields("boolean", "active is_admin prohibit_login restricted"),
  ...fields(
    "string",
    "avatar_url created description email full_name html_url language last_login location login login_name username visibility website",
  ),
};

/** A repository with its own issues and its own wiki. */
export const REPOSITORY: Form = {
  expires_at: "null",
  ...fields(
    "number",
    "id size stars_count forks_count watchers_count open_issues_count open_pr_counter release_counter",
  ),
  ...fields(
    "boolean",
    "allow_fast_forward_only_merge allow_manual_merge allow_merge_commits allow_rebase allow_rebase_explicit allow_rebase_update allow_squash_merge archived autodetect_manual_merge default_allow_maintainer_edit default_delete_branch_after_merge empty fork has_actions has_code has_issues has_packages has_projects has_pull_requests has_releases has_wiki ignore_whitespace_conflicts internal mirror private template",
  ),
  ...fields(
    "string",
    "archived_at avatar_url clone_url created_at default_branch default_merge_style description full_name html_url language languages_url link mirror_interval mirror_updated name object_format_name original_url projects_mode ssh_url updated_at url website",
  ),
  ...fields("array", "licenses topics"),
  ...fields("object", "owner permissions internal_tracker"),
};

/** A pushed commit. */
export const COMMIT: Form = {
  ...fields("string", "id message url timestamp"),
  ...fields("object", "author committer"),
  ...fields("array", "added removed modified"),
  verification: "null",
};

export const COMMIT_USER: Form = fields("string", "name email username");

/** The JSON types of nested objects too; a list of objects has one form for all its items. */
export type DeepForm = Kind | { [key: string]: DeepForm } | DeepForm[];

export function deepFormOf(value: unknown): DeepForm {
  const kind = kindOf(value);
  if (kind === "array") {
    const forms = (value as unknown[]).map(deepFormOf).filter((form) => typeof form === "object");
    if (forms.length === 0) return kind;
    return [...new Set(forms.map((form) => JSON.stringify(form)))].map(
      (form) => JSON.parse(form) as DeepForm,
    );
  }
  if (kind !== "object") return kind;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, field]) => [key, deepFormOf(field)]),
  );
}

export const DEEP_REPOSITORY = {
  ...REPOSITORY,
  owner: USER,
  permissions: fields("boolean", "admin pull push"),
  internal_tracker: fields(
    "boolean",
    "allow_only_contributors_to_track_time enable_issue_dependencies enable_time_tracker",
  ),
} satisfies DeepForm;

export const DEEP_COMMIT = {
  ...COMMIT,
  author: COMMIT_USER,
  committer: COMMIT_USER,
} satisfies DeepForm;
