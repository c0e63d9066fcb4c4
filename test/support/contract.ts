/** An operation that the API's contract names. */
export interface ContractOperation {
  /** Method and path below `/api/v1`. */
  readonly route: string;
  /** The status of a success, with the shape or the content type of its body. */
  readonly success: string;
  /** The names of its query parameters or of its body's fields; or the content type of its body. */
  readonly input?: readonly string[];
}

/** The operations that the contract names, by id. */
export const OPERATIONS: Readonly<Record<string, ContractOperation>> = {
  renderMarkdown: {
    route: "POST /markdown",
    success: "200 text/html",
    input: ["Text", "Mode", "Context", "Wiki"],
  },
  renderMarkdownRaw: {
    route: "POST /markdown/raw",
    success: "200 text/html",
    input: ["text/plain"],
  },
  createOrgRepo: {
    route: "POST /org/{org}/repos",
    success: "201 Repository",
    input: ["name", "description", "private", "auto_init", "gitignores", "license", "readme"],
  },
  repoSearch: {
    route: "GET /repos/search",
    success: "200 SearchResults",
    input: ["q", "uid", "limit"],
  },
  repoMirrorSync: { route: "POST /repos/{owner}/{repo}/mirror-sync", success: "200" },
  userCurrentCheckSubscription: {
    route: "GET /repos/{owner}/{repo}/subscription",
    success: "200 WatchInfo",
  },
  userCurrentPutSubscription: {
    route: "PUT /repos/{owner}/{repo}/subscription",
    success: "200 WatchInfo",
  },
  userCurrentDeleteSubscription: {
    route: "DELETE /repos/{owner}/{repo}/subscription",
    success: "204",
  },
  userGetCurrent: { route: "GET /user", success: "200 User" },
  userCurrentListFollowers: { route: "GET /user/followers", success: "200 User[]" },
  userCurrentListFollowing: { route: "GET /user/following", success: "200 User[]" },
  userCurrentCheckFollowing: { route: "GET /user/following/{username}", success: "204" },
  userCurrentPutFollow: { route: "PUT /user/following/{username}", success: "204" },
  userCurrentDeleteFollow: { route: "DELETE /user/following/{username}", success: "204" },
  userCurrentListGPGKeys: { route: "GET /user/gpg_keys", success: "200 GPGKey[]" },
  userCurrentPostGPGKey: {
    route: "POST /user/gpg_keys",
    success: "201 GPGKey",
    input: ["armored_public_key"],
  },
  userCurrentGetGPGKey: { route: "GET /user/gpg_keys/{id}", success: "200 GPGKey" },
  userCurrentDeleteGPGKey: { route: "DELETE /user/gpg_keys/{id}", success: "204" },
  userCurrentListKeys: { route: "GET /user/keys", success: "200 PublicKey[]" },
  userCurrentPostKey: {
    route: "POST /user/keys",
    success: "201 PublicKey",
    input: ["title", "key"],
  },
  userCurrentGetKey: { route: "GET /user/keys/{id}", success: "200 PublicKey" },
  userCurrentDeleteKey: { route: "DELETE /user/keys/{id}", success: "204" },
  userCurrentListRepos: { route: "GET /user/repos", success: "200 Repository[]" },
  userCurrentListStarred: { route: "GET /user/starred", success: "200 Repository[]" },
  userCurrentCheckStarring: { route: "GET /user/starred/{owner}/{repo}", success: "204" },
  userCurrentPutStar: { route: "PUT /user/starred/{owner}/{repo}", success: "204" },
  userCurrentDeleteStar: { route: "DELETE /user/starred/{owner}/{repo}", success: "204" },
  userCurrentListSubscriptions: { route: "GET /user/subscriptions", success: "200 Repository[]" },
  userListFollowers: { route: "GET /users/{username}/followers", success: "200 User[]" },
  userSearch: { route: "GET /users/search", success: "200 User[]" },
  userGet: { route: "GET /users/{username}", success: "200 User" },
  userListFollowing: { route: "GET /users/{username}/following", success: "200 User[]" },
  userCheckFollowing: { route: "GET /users/{username}/following/{target}", success: "204" },
  userListGPGKeys: { route: "GET /users/{username}/gpg_keys", success: "200 GPGKey[]" },
  userListKeys: { route: "GET /users/{username}/keys", success: "200 PublicKey[]" },
  userListRepos: { route: "GET /users/{username}/repos", success: "200 Repository[]" },
  userListStarred: { route: "GET /users/{username}/starred", success: "200 Repository[]" },
  userListSubscriptions: {
    route: "GET /users/{username}/subscriptions",
    success: "200 Repository[]",
  },
  userGetTokens: { route: "GET /users/{username}/tokens", success: "200 AccessToken[]" },
  getVersion: { route: "GET /version", success: "200 ServerVersion" },
};

/** Routes that the contract names without their shapes. */
export const ROUTES: readonly string[] = [
  "GET /repos/{owner}/{repo}/issues/{index}/blocks",
  "POST /repos/{owner}/{repo}/issues/{index}/blocks",
  "DELETE /repos/{owner}/{repo}/issues/{index}/blocks",
  "GET /repos/{owner}/{repo}/issues/{index}/dependencies",
  "POST /repos/{owner}/{repo}/issues/{index}/dependencies",
  "DELETE /repos/{owner}/{repo}/issues/{index}/dependencies",
  "GET /repos/{owner}/{repo}/git/notes/{sha}",
  "GET /repos/{owner}/{repo}/pulls/{index}/files",
  "POST /markup",
  "GET /teams/{id}",
  "POST /user/repos",
];

/** The fields of each shape that the contract names. */
export const FIELDS: Readonly<Record<string, readonly string[]>> = {
  User: ["id", "login", "full_name", "email", "avatar_url"],
  Repository: [
    "id",
    "owner",
    "name",
    "full_name",
    "description",
    "private",
    "fork",
    "mirror",
    "empty",
    "parent",
    "html_url",
    "ssh_url",
    "clone_url",
    "website",
    "stars_count",
    "forks_count",
    "watchers_count",
    "open_issues_count",
    "size",
    "default_branch",
    "created_at",
    "updated_at",
    "permissions",
  ],
  Permission: ["admin", "push", "pull"],
  GPGKey: [
    "id",
    "primary_key_id",
    "key_id",
    "public_key",
    "emails",
    "subkeys",
    "can_sign",
    "can_encrypt_comms",
    "can_encrypt_storage",
    "can_certify",
    "created_at",
    "expires_at",
  ],
  GPGKeyEmail: ["email", "verified"],
  PublicKey: ["id", "key", "url", "title", "created_at"],
  AccessToken: ["name", "sha1"],
  WatchInfo: ["subscribed", "ignored", "reason", "created_at", "url", "repository_url"],
  SearchResults: ["ok", "data"],
  SearchError: ["ok", "error"],
  ServerVersion: ["Version"],
  APIError: ["message", "url"],
};
