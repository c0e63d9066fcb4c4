import { z } from "zod";

import { parseBase64 } from "./lib/base64.ts";
import { type HostList, parseHostList } from "./lib/host-list.ts";

const flag = (fallback: boolean) =>
  z
    .enum(["true", "false"], "true or false")
    .default(fallback ? "true" : "false")
    .transform((text) => text === "true");

const text = (allowed: string, pattern: RegExp, fallback: string) =>
  z.string(allowed).regex(pattern, allowed).default(fallback);

const count = (fallback: number, min: number, max: number) => {
  const allowed = `a whole number from ${min} to ${max}`;
  return z
    .string(allowed)
    .regex(/^-?\d{1,12}$/, allowed)
    .default(String(fallback))
    .transform(Number)
    .pipe(z.number().min(min, allowed).max(max, allowed));
};

const hostList = (fallback: string) => {
  const allowed = "external, private, loopback, *, networks and names, separated by commas";
  return z
    .string(allowed)
    .default(fallback)
    .transform((list, context) => {
      const hosts = parseHostList(list);
      if (hosts) return hosts;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** Armor, and of the OpenSSH form the beginning that says that there is no passphrase. */
const SIGNING_KEY =
  /^\s*(-----BEGIN PGP PRIVATE KEY BLOCK-----\s[^]+-----END PGP PRIVATE KEY BLOCK-----\s*|-----BEGIN OPENSSH PRIVATE KEY-----\s+b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ[^]+-----END OPENSSH PRIVATE KEY-----\s*)?$/;

const SEALING_KEYS =
  "names and keys of 32 bytes in base64, as in name:key, with commas between, or empty";

/** Every variable the service reads, with what it allows and what it is when nobody sets it. */
const Variables = z.object({
  /** Where people and clients reach the service; "" takes it from each request. */
  ROOT_URL: text(
    "an http or https address without a path, or empty",
    /^(https?:\/\/[^/?#\s]+)?$/,
    "",
  ),
  /** The name pages and documents show. */
  APP_NAME: text("a name", /./, "Edgeforge"),
  /** Items on a page of a list that asks for none. */
  DEFAULT_PAGING_NUM: count(30, 1, 1000),
  /** Items on a page at most. */
  MAX_RESPONSE_ITEMS: count(50, 1, 1000),
  /** Items on a page of a search at most. */
  EXPLORE_PAGE_SIZE_MAX: count(50, 1, 1000),
  /** Whether the API answers nobody who isn't signed in. */
  REQUIRE_SIGNIN_VIEW: flag(false),
  /** The domain of the addresses shown instead of hidden ones; "" takes `noreply.<host>`. */
  NO_REPLY_DOMAIN: text("a lower-case domain name, or empty", /^([a-z0-9-]+(\.[a-z0-9-]+)*)?$/, ""),
  /** The branch of a new repository that names none. */
  DEFAULT_BRANCH: text("a branch name", /^[0-9A-Za-z][0-9A-Za-z._-]*$/, "main"),
  /** Repositories an account may own; -1 is no limit. */
  MAX_CREATION_LIMIT: count(-1, -1, 1_000_000_000),
  /** Whether whoever creates a repository watches it. */
  AUTO_WATCH_NEW_REPOS: flag(true),
  /** Characters of a password at least. */
  MIN_PASSWORD_LENGTH: count(8, 1, 128),
  /** Bytes of a JSON body at most. */
  JSON_BODY_MAX_BYTES: count(1_048_576, 1024, 16_777_216),
  /** Bytes of a JSON body that holds files at most. A file in it takes a third more than it has. */
  CONTENTS_BODY_MAX_BYTES: count(8_388_608, 1024, 16_777_216),
  /** Bytes of a text to render at most. */
  MARKUP_MAX_BYTES: count(524_288, 1024, 4_194_304),
  /** Whether a push to a repository of one's own that does not exist creates it. */
  ENABLE_PUSH_CREATE_USER: flag(false),
  /** Whether a push to a repository of an organization that does not exist creates it. */
  ENABLE_PUSH_CREATE_ORG: flag(false),
  /** Whether what a push creates is private. */
  DEFAULT_PUSH_CREATE_PRIVATE: flag(true),
  /** Bytes of one push at most. Cloudflare bounds the body of a request too, by plan. */
  PUSH_MAX_BYTES: count(4_294_967_296, 1024, 999_999_999_999),
  /** Refs that one push may name at most. */
  PUSH_MAX_REFS: count(100_000, 1, 100_000),
  /** Bytes of one object that is pushed at most, inflated. */
  GIT_OBJECT_MAX_BYTES: count(5_368_709_120, 1024, 999_999_999_999),
  /** Bytes of a repository's packs at most, with those of the push that comes; -1 is no limit. */
  GIT_REPOSITORY_MAX_BYTES: count(-1, -1, 999_999_999_999),
  /** Whether large files are kept for clients of Git LFS. */
  LFS_START_SERVER: flag(true),
  /** Bytes of one large file at most; 0 is no limit. Cloudflare bounds the body of a request too, by plan. */
  LFS_MAX_FILE_SIZE: count(0, 0, 999_999_999_999),
  /** Large files that one request may ask about at most; 0 is no limit but that of a JSON body. */
  LFS_MAX_BATCH_SIZE: count(0, 0, 1_000_000),
  /** Locks of large files on a page at most. */
  LFS_LOCKS_PAGING_NUM: count(50, 1, 1000),
  /** Where requests of the service may go: webhooks, mirrors and whatever else asks other hosts. */
  ALLOWED_HOST_LIST: hostList("external"),
  /** Where they may not, even if that list has it. */
  BLOCKED_HOST_LIST: hostList(""),
  /** Looks up where a name leads, over HTTPS in the JSON form of DNS; "" reaches only names that the list names. */
  DNS_RESOLVER_URL: text(
    "an http or https address, or empty",
    /^(https?:\/\/[^?#\s]+)?$/,
    "https://cloudflare-dns.com/dns-query",
  ),
  /** Seconds that the receiver of a webhook has to answer. */
  DELIVER_TIMEOUT: count(5, 1, 20),
  /** Days for which every delivery of a webhook must have failed until it is paused; 0 pauses none. */
  WEBHOOK_PAUSE_DAYS: count(5, 0, 365),
  /** Whether webhooks are switched off: nobody sets any up, nothing is handed out or sent. */
  DISABLE_WEBHOOKS: flag(false),
  /** Webhooks of one repository, organization, user, or of the service at most. */
  WEBHOOKS_MAX: count(100, 1, 1000),
  /** Days that deliveries of webhooks are kept, with what was sent and answered. */
  WEBHOOK_DELIVERY_DAYS: count(30, 1, 36_500),
  /** Makes an administrator of this password where there is none yet: a secret, to be deleted afterwards. */
  FIRST_ADMIN_PASSWORD: z.string("a text").default(""),
  FIRST_ADMIN_USER: z.string("a name").min(1, "a name").default("root"),
  FIRST_ADMIN_EMAIL: z.string("a text").default(""),
  /** Signs the commits and tags that the service makes: a secret. Without it nothing is signed. */
  SIGNING_KEY: text(
    "an armored OpenPGP private key or an OpenSSH private key, without a passphrase, or empty",
    SIGNING_KEY,
    "",
  ),
  /** Whom such a signature names; "" takes the service's own name. */
  SIGNING_NAME: text("a name of one line, or empty", /^[^\p{Cc}<>]*$/u, ""),
  SIGNING_EMAIL: text("an e-mail address, or empty", /^([^\s<>@]+@[^\s<>@]+)?$/, ""),
  /** Whether the first commit of a repository is signed, which auto_init makes. */
  SIGNING_INITIAL_COMMIT: flag(true),
  /** Whether commits are signed that change files or notes by API. */
  SIGNING_CRUD_ACTIONS: flag(true),
  /** Whether annotated tags are signed that are made by API. */
  SIGNING_TAGS: flag(true),
  /**
   * Seal what must be read back, such as the secrets of webhooks: a secret itself. The first key seals,
   * each of them opens. Without it such things are refused.
   */
  SEALING_KEYS: z
    .string(SEALING_KEYS)
    .refine((list) => parseSealingKeys(list) !== undefined, SEALING_KEYS)
    .default(""),
  /** Whether the log line of a request also counts the D1 rows it read and wrote. It reads every row twice. */
  LOG_D1_ROWS: flag(false),
});

/** What the service makes and may sign. */
export type SignedOperation = "first_commit" | "change" | "tag";

/** How the service signs what it makes. */
export interface Signing {
  readonly format: "openpgp" | "ssh";
  /** The private key, armored. */
  readonly key: string;
  readonly name: string;
  readonly email: string;
  readonly operations: ReadonlySet<SignedOperation>;
}

/** A key for what is stored sealed. */
export interface SealingKey {
  /** What sealed texts call it by. */
  readonly name: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Config {
  rootUrl: string;
  appName: string;
  pageSizeDefault: number;
  pageSizeMax: number;
  searchPageSizeMax: number;
  isSignInRequired: boolean;
  noReplyDomain: string;
  defaultBranch: string;
  repoCountMax: number;
  isAutoWatchOn: boolean;
  passwordLengthMin: number;
  jsonBodyMaxBytes: number;
  contentsBodyMaxBytes: number;
  markupMaxBytes: number;
  isUserPushCreateOn: boolean;
  isOrgPushCreateOn: boolean;
  isPushCreatePrivate: boolean;
  pushMaxBytes: number;
  pushMaxRefs: number;
  gitObjectMaxBytes: number;
  gitRepositoryMaxBytes: number;
  isLfsOn: boolean;
  lfsFileMaxBytes: number;
  lfsBatchMax: number;
  lfsLockPageMax: number;
  allowedHosts: HostList;
  blockedHosts: HostList;
  dnsResolverUrl: string;
  deliverTimeoutMs: number;
  hookPauseMs: number;
  areWebhooksDisabled: boolean;
  hookCountMax: number;
  deliveryDays: number;
  logsD1Rows: boolean;
  signing: Signing | undefined;
  /** The first seals, each opens. */
  sealingKeys: readonly SealingKey[];
  firstAdministrator: { name: string; password: string; email: string } | undefined;
}

/** The domain of the addresses shown instead of hidden ones. */
export const noReplyDomain = (config: Config, rootUrl: string): string =>
  config.noReplyDomain || `noreply.${new URL(rootUrl).hostname}`;

/**
 * Reads the configuration from the Worker's variables; bindings among them are passed over.
 *
 * @throws Error naming each wrong variable, what it allows, and never its value: it may be a secret.
 */
export function parseConfig(env: object): Config {
  const parsed = Variables.safeParse(env);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `${issue.path.join(".")} must be ${issue.message}`,
    );
    throw new Error(`wrong configuration: ${faults.join("; ")}`);
  }
  const variables = parsed.data;
  return {
    rootUrl: variables.ROOT_URL,
    appName: variables.APP_NAME,
    pageSizeDefault: Math.min(variables.DEFAULT_PAGING_NUM, variables.MAX_RESPONSE_ITEMS),
    pageSizeMax: variables.MAX_RESPONSE_ITEMS,
    searchPageSizeMax: variables.EXPLORE_PAGE_SIZE_MAX,
    isSignInRequired: variables.REQUIRE_SIGNIN_VIEW,
    noReplyDomain: variables.NO_REPLY_DOMAIN,
    defaultBranch: variables.DEFAULT_BRANCH,
    repoCountMax: variables.MAX_CREATION_LIMIT,
    isAutoWatchOn: variables.AUTO_WATCH_NEW_REPOS,
    passwordLengthMin: variables.MIN_PASSWORD_LENGTH,
    jsonBodyMaxBytes: variables.JSON_BODY_MAX_BYTES,
    contentsBodyMaxBytes: variables.CONTENTS_BODY_MAX_BYTES,
    markupMaxBytes: variables.MARKUP_MAX_BYTES,
    isUserPushCreateOn: variables.ENABLE_PUSH_CREATE_USER,
    isOrgPushCreateOn: variables.ENABLE_PUSH_CREATE_ORG,
    isPushCreatePrivate: variables.DEFAULT_PUSH_CREATE_PRIVATE,
    pushMaxBytes: variables.PUSH_MAX_BYTES,
    pushMaxRefs: variables.PUSH_MAX_REFS,
    gitObjectMaxBytes: variables.GIT_OBJECT_MAX_BYTES,
    gitRepositoryMaxBytes: variables.GIT_REPOSITORY_MAX_BYTES,
    isLfsOn: variables.LFS_START_SERVER,
    lfsFileMaxBytes: variables.LFS_MAX_FILE_SIZE || Number.POSITIVE_INFINITY,
    lfsBatchMax: variables.LFS_MAX_BATCH_SIZE || Number.POSITIVE_INFINITY,
    lfsLockPageMax: variables.LFS_LOCKS_PAGING_NUM,
    allowedHosts: variables.ALLOWED_HOST_LIST,
    blockedHosts: variables.BLOCKED_HOST_LIST,
    dnsResolverUrl: variables.DNS_RESOLVER_URL,
    deliverTimeoutMs: variables.DELIVER_TIMEOUT * 1000,
    hookPauseMs: variables.WEBHOOK_PAUSE_DAYS * DAY_MS || Number.POSITIVE_INFINITY,
    areWebhooksDisabled: variables.DISABLE_WEBHOOKS,
    hookCountMax: variables.WEBHOOKS_MAX,
    deliveryDays: variables.WEBHOOK_DELIVERY_DAYS,
    logsD1Rows: variables.LOG_D1_ROWS,
    signing: toSigning(variables),
    sealingKeys: parseSealingKeys(variables.SEALING_KEYS) ?? [],
    firstAdministrator:
      variables.FIRST_ADMIN_PASSWORD === ""
        ? undefined
        : {
            name: variables.FIRST_ADMIN_USER,
            password: variables.FIRST_ADMIN_PASSWORD,
            email: variables.FIRST_ADMIN_EMAIL || `${variables.FIRST_ADMIN_USER}@edgeforge.invalid`,
          },
  };
}

function toSigning(variables: z.infer<typeof Variables>): Signing | undefined {
  const key = variables.SIGNING_KEY.trim();
  if (key === "") return undefined;
  const signed: [SignedOperation, boolean][] = [
    ["first_commit", variables.SIGNING_INITIAL_COMMIT],
    ["change", variables.SIGNING_CRUD_ACTIONS],
    ["tag", variables.SIGNING_TAGS],
  ];
  return {
    format: key.startsWith("-----BEGIN PGP") ? "openpgp" : "ssh",
    key,
    name: variables.SIGNING_NAME || variables.APP_NAME,
    email: variables.SIGNING_EMAIL,
    operations: new Set(signed.filter(([, isSigned]) => isSigned).map(([operation]) => operation)),
  };
}

/** @returns Undefined for a text that is no list of keys, or names two of them alike. */
function parseSealingKeys(list: string): SealingKey[] | undefined {
  const items = list.split(",").map((item) => item.trim());
  if (items.length === 1 && items[0] === "") return [];
  const keys: SealingKey[] = [];
  for (const item of items) {
    const [, name, base64] = /^([a-z0-9-]{1,32}):([0-9A-Za-z+/]{43}=)$/.exec(item) ?? [];
    if (name === undefined || base64 === undefined) return undefined;
    const bytes = parseBase64(base64);
    if (!bytes || keys.some((key) => key.name === name)) return undefined;
    keys.push({ name, bytes });
  }
  return keys;
}
