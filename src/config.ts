import { z } from "zod";

import { PACKAGE_TYPES, type PackageType } from "./db/schema/package-types.ts";
import { type FindingSeverities, parseSeverities } from "./git/object/finding.ts";
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

const urlList = () => {
  const allowed = "http or https addresses without a path, separated by commas, or empty";
  return z
    .string(allowed)
    .default("")
    .transform((list, context) => {
      const urls = list.split(",").map((item) => item.trim());
      if (urls.length === 1 && urls[0] === "") return [];
      const isValid = (url: string) => /^https?:\/\/[^/?#@\s]+$/.test(url) && URL.canParse(url);
      if (urls.every(isValid)) return urls;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
};

const originList = () => {
  const allowed =
    "* for all, or origins such as https://app.example, separated by commas, or empty for none";
  return z
    .string(allowed)
    .default("*")
    .transform((list, context) => {
      const items = list.split(",").map((item) => item.trim());
      if (list === "*") return list;
      if (list === "") return [];
      // As browsers send them: in lower case, without the port that a scheme implies.
      const isOrigin = (item: string) => !item.includes("*") && URL.parse(item)?.origin === item;
      if (items.every(isOrigin)) return items;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
};

const typeList = (fallback: string) => {
  const allowed =
    "endings such as .png and media types such as image/* with commas between, or empty for all";
  return z
    .string(allowed)
    .default(fallback)
    .transform((list, context) => {
      const items = list.split(",").map((item) => item.trim().toLowerCase());
      if (list.trim() === "") return [];
      const isValid = (item: string) =>
        /^(?:\.[\w.+-]+|\*\/\*|[\w.+-]+\/(?:\*|[\w.+-]+))$/.test(item);
      if (items.every(isValid)) return items;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
};

const severities = () => {
  const allowed =
    "findings of git fsck with error, warn or ignore, as in badTimezone=error, with commas between";
  return z
    .string(allowed)
    .default("")
    .transform((list, context) => {
      const parsed = parseSeverities(list);
      if (parsed) return parsed;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
};

const ROOT_URL = "an http or https address without a path, or empty";

/**
 * Files of text, images, documents, archives and recordings; none that a browser would run as a
 * page.
 */
const ATTACHMENT_TYPES = [
  ".avif,.cpuprofile,.csv,.dmp,.docx,.fodg,.fodp,.fods,.fodt,.gif,.gz,.jpeg,.jpg,.json,.jsonc",
  ".log,.md,.mov,.mp4,.odf,.odg,.odp,.ods,.odt,.patch,.pdf,.png,.pptx,.svg,.tgz,.txt,.webm,.webp",
  ".xls,.xlsx,.zip",
].join(",");

const DAY_MS = 24 * 60 * 60 * 1000;

/** An armored OpenPGP key, or an OpenSSH key whose header states that it has no passphrase. */
const SIGNING_KEY =
  /^\s*(-----BEGIN PGP PRIVATE KEY BLOCK-----\s[^]+-----END PGP PRIVATE KEY BLOCK-----\s*|-----BEGIN OPENSSH PRIVATE KEY-----\s+b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ[^]+-----END OPENSSH PRIVATE KEY-----\s*)?$/;

/** One or more RSA keys in PEM, as `openssl genpkey` writes them. */
const OAUTH_SIGNING_KEYS =
  /^\s*(-----BEGIN PRIVATE KEY-----\s[0-9A-Za-z+/=\s]+-----END PRIVATE KEY-----\s*)*$/;

const SEALING_KEYS =
  "names and keys of 32 bytes in base64, as in name:key, with commas between, or empty";

/** The variable with the limit of one format's files. */
const sizeVariable = (type: PackageType) =>
  `PACKAGES_LIMIT_SIZE_${type.toUpperCase()}` as `PACKAGES_LIMIT_SIZE_${Uppercase<PackageType>}`;

const sizeVariables = Object.fromEntries(
  PACKAGE_TYPES.map((type) => [sizeVariable(type), count(-1, -1, 999_999_999_999)]),
) as Record<ReturnType<typeof sizeVariable>, ReturnType<typeof count>>;

/** Every variable the service reads, with its allowed values and its default. */
const Variables = z.object({
  /** The public base URL of the service; "" takes the origin of each request. */
  ROOT_URL: text(ROOT_URL, /^(https?:\/\/[^/?#@\s]+)?$/, "").refine(
    (url) => url === "" || URL.canParse(url),
    ROOT_URL,
  ),
  /**
   * Base URLs by which the service is reached besides ROOT_URL; it sends no requests to them. The
   * first one takes the place of an empty ROOT_URL in everything that others than the caller read.
   * `npm start` puts the addresses of its machine first.
   */
  LISTEN_URLS: urlList(),
  /** The name of the service in pages and documents. */
  APP_NAME: text("a name", /./, "Edgeforge"),
  /** Items on a page of a list when the request sets no limit. */
  DEFAULT_PAGING_NUM: count(30, 1, 1000),
  /** Maximum items on a page. */
  MAX_RESPONSE_ITEMS: count(50, 1, 1000),
  /** Maximum items on a page of search results. */
  EXPLORE_PAGE_SIZE_MAX: count(50, 1, 1000),
  /**
   * Origins whose scripts may call the API and the endpoints of OAuth 2.0 from a browser, with
   * tokens and never with cookies.
   */
  CORS_ALLOW_DOMAIN: originList(),
  /** Whether search engines get a list of all public accounts and repositories. */
  ENABLE_SITEMAP: flag(false),
  /** Whether the API refuses anonymous callers. */
  REQUIRE_SIGNIN_VIEW: flag(false),
  /**
   * The header in which a trusted proxy states the client's address; "" for none. Wrong passwords
   * are counted by address.
   */
  CLIENT_ADDRESS_HEADER: text(
    "the name of a header, or empty",
    /^[0-9A-Za-z-]*$/,
    "CF-Connecting-IP",
  ),
  /** The domain of the e-mail addresses shown instead of hidden ones; "" takes `noreply.<host>`. */
  NO_REPLY_DOMAIN: text("a lower-case domain name, or empty", /^([a-z0-9-]+(\.[a-z0-9-]+)*)?$/, ""),
  /** The default branch of a repository created without one. */
  DEFAULT_BRANCH: text(
    "a branch name",
    /^(?![0-9A-Fa-f]{40}(?:[0-9A-Fa-f]{24})?$)[0-9A-Za-z][0-9A-Za-z._-]*$/,
    "main",
  ),
  /** Maximum repositories of an account; -1 is no limit. */
  MAX_CREATION_LIMIT: count(-1, -1, 1_000_000_000),
  /**
   * Maximum bytes that an account may store: git, wikis, large files, attachments and packages; -1
   * is no limit.
   */
  MAX_BYTES_PER_OWNER: count(-1, -1, 999_999_999_999),
  /** Maximum access tokens of a user; -1 is no limit. */
  MAX_TOKENS_PER_USER: count(-1, -1, 1_000_000_000),
  /** Whether creating a repository makes its creator watch it. */
  AUTO_WATCH_NEW_REPOS: flag(true),
  /** Minimum length of a password, in characters. */
  MIN_PASSWORD_LENGTH: count(8, 1, 128),
  /** Maximum bytes of a JSON body. */
  JSON_BODY_MAX_BYTES: count(1_048_576, 1024, 16_777_216),
  /** Maximum bytes of a JSON body that contains files. Base64 makes a file a third larger. */
  CONTENTS_BODY_MAX_BYTES: count(8_388_608, 1024, 16_777_216),
  /** Maximum bytes of a text to render. */
  MARKUP_MAX_BYTES: count(524_288, 1024, 4_194_304),
  /** Whether a push to a missing repository of the pushing user creates it. */
  ENABLE_PUSH_CREATE_USER: flag(false),
  /** Whether a push to a missing repository of an organization creates it. */
  ENABLE_PUSH_CREATE_ORG: flag(false),
  /** Whether a repository created by a push is private. */
  DEFAULT_PUSH_CREATE_PRIVATE: flag(true),
  /** Maximum bytes of one push. Cloudflare limits request bodies too, depending on the plan. */
  PUSH_MAX_BYTES: count(4_294_967_296, 1024, 999_999_999_999),
  /** Maximum refs in one push. */
  PUSH_MAX_REFS: count(100_000, 1, 100_000),
  /**
   * Maximum bytes of one pack that is fetched from a remote, by a mirror or a migration: as of a
   * push. A gigabyte takes up to a fourth of the five minutes of CPU that Cloudflare gives a job.
   */
  REMOTE_PACK_MAX_BYTES: count(4_294_967_296, 1024, 999_999_999_999),
  /**
   * Maximum bytes of an export that is imported. Cloudflare limits request bodies too, depending on
   * the plan.
   */
  IMPORT_MAX_BYTES: count(8_589_934_592, 1024, 999_999_999_999),
  /** Maximum bytes of one pushed object, inflated. */
  GIT_OBJECT_MAX_BYTES: count(5_368_709_120, 1024, 999_999_999_999),
  /** Maximum bytes of all objects of one received pack together, inflated and made from deltas. */
  GIT_PACK_MAX_INFLATED_BYTES: count(549_755_813_888, 1024, 999_999_999_999),
  /**
   * The same as a multiple of the pack's bytes, beyond the 2 GiB that a pack of any size may have.
   */
  GIT_PACK_MAX_INFLATED_RATIO: count(1000, 1, 1_000_000),
  /**
   * Severities of findings in pushed objects: `error` refuses, `warn` reports, `ignore` does
   * neither.
   */
  RECEIVE_FSCK: severities(),
  /** Maximum bytes of a repository's packs, including the incoming push; -1 is no limit. */
  GIT_REPOSITORY_MAX_BYTES: count(-1, -1, 999_999_999_999),
  /** Days for which objects stay after the last ref that reached them has changed. */
  GIT_GC_GRACE_DAYS: count(14, 0, 36_500),
  /**
   * Days between two searches for unreachable objects of a repository at least; 0 is no search
   * unless somebody asks.
   */
  GIT_GC_INTERVAL_DAYS: count(7, 0, 36_500),
  /**
   * The part of a pack, in percent of its bytes, that must be unreachable for the pack to be
   * written anew.
   */
  GIT_GC_LOST_PERCENT: count(10, 0, 100),
  /** Whether the service stores large files for Git LFS clients. */
  LFS_START_SERVER: flag(true),
  /**
   * Maximum bytes of one large file; 0 is no limit. Cloudflare limits request bodies too, depending
   * on the plan.
   */
  LFS_MAX_FILE_SIZE: count(0, 0, 999_999_999_999),
  /** Maximum large files in one batch request; 0 leaves only the limit of a JSON body. */
  LFS_MAX_BATCH_SIZE: count(0, 0, 1_000_000),
  /** Maximum Git LFS locks on a page. */
  LFS_LOCKS_PAGING_NUM: count(50, 1, 1000),
  /** Whether issues and comments can have files. */
  ATTACHMENT_ENABLED: flag(true),
  /** The types of files that may be attached; empty allows all. */
  ATTACHMENT_ALLOWED_TYPES: typeList(ATTACHMENT_TYPES),
  /**
   * Maximum size of an attached file, in MiB. Cloudflare limits request bodies too, depending on
   * the plan.
   */
  ATTACHMENT_MAX_SIZE: count(100, 1, 2048),
  /** Maximum files of one issue, and of one comment. */
  ATTACHMENT_MAX_FILES: count(100, 1, 1000),
  /** The types of files that releases may have; empty allows all. */
  RELEASE_ALLOWED_TYPES: typeList(""),
  /** Maximum bytes of one artifact of a run. Cloudflare limits request bodies too. */
  ARTIFACT_MAX_BYTES: count(10_000_000_000, 1, 999_999_999_999),
  /** Maximum days for which artifacts are kept, and the default. */
  ARTIFACT_RETENTION_DAYS: count(90, 1, 36_500),
  /** Whether packages are served. */
  PACKAGES_ENABLED: flag(true),
  /** Maximum versions of all packages of an account; -1 is no limit. */
  PACKAGES_LIMIT_TOTAL_OWNER_COUNT: count(-1, -1, 1_000_000_000),
  /** Maximum bytes of all packages of an account, each content counted once; -1 is no limit. */
  PACKAGES_LIMIT_TOTAL_OWNER_SIZE: count(-1, -1, 999_999_999_999),
  /**
   * Maximum bytes of one file of a format; -1 is no limit. Cloudflare limits request bodies too,
   * depending on the plan.
   */
  ...sizeVariables,
  /**
   * Seconds for which an isolate gathers downloads of packages before it counts them by one write.
   */
  PACKAGES_DOWNLOAD_COUNT_SECONDS: count(10, 0, 25),
  /**
   * Hosts to which the service may send requests: webhooks, mirrors and all other outgoing
   * requests.
   */
  ALLOWED_HOST_LIST: hostList("external"),
  /** Hosts to which the service sends no requests, even if ALLOWED_HOST_LIST contains them. */
  BLOCKED_HOST_LIST: hostList(""),
  /**
   * The resolver for host names, DNS over HTTPS in its JSON form; with "" only names in the list
   * are reachable.
   */
  DNS_RESOLVER_URL: text(
    "an http or https address, or empty",
    /^(https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?)?$/,
    "https://cloudflare-dns.com/dns-query",
  ),
  /** Seconds that a webhook's receiver has to respond. */
  DELIVER_TIMEOUT: count(5, 1, 20),
  /**
   * A webhook is paused when all its deliveries have failed for this many days; 0 never pauses
   * webhooks.
   */
  WEBHOOK_PAUSE_DAYS: count(5, 0, 365),
  /**
   * Whether webhooks are disabled: none can be created, and events are neither dispatched nor
   * delivered.
   */
  DISABLE_WEBHOOKS: flag(false),
  /** Maximum webhooks of one owner: a repository, an organization, a user, or the service. */
  WEBHOOKS_MAX: count(100, 1, 1000),
  /** Retention of webhook deliveries, with their requests and responses, in days. */
  WEBHOOK_DELIVERY_DAYS: count(30, 1, 36_500),
  /** Retention of events in streams and feeds, in days; 0 keeps them for ever. */
  EVENT_RETENTION_DAYS: count(365, 0, 36_500),
  /**
   * Whether repositories can be taken over from elsewhere: by migration, as mirrors, and from
   * exports.
   */
  DISABLE_MIGRATIONS: flag(false),
  /**
   * Seconds for which a request for a migration waits for its end, before it answers that it goes
   * on.
   */
  MIGRATION_WAIT_SECONDS: count(10, 0, 60),
  /** Whether mirrors are synchronized, and can be added. */
  MIRROR_ENABLED: flag(true),
  MIRROR_DISABLE_NEW_PULL: flag(false),
  MIRROR_DISABLE_NEW_PUSH: flag(false),
  /** Minutes between two synchronizations of a mirror that names no interval. */
  MIRROR_DEFAULT_INTERVAL_MINUTES: count(480, 1, 525_600),
  MIRROR_MIN_INTERVAL_MINUTES: count(10, 1, 525_600),
  /**
   * A mirror is paused when all its attempts have failed for this many days; 0 never pauses
   * mirrors.
   */
  MIRROR_PAUSE_DAYS: count(5, 0, 365),
  /** Seconds that another host has to begin its answer, and between two parts of it. */
  REMOTE_TIMEOUT: count(60, 1, 600),
  /** Whether issues may depend on issues of other repositories. */
  ALLOW_CROSS_REPOSITORY_DEPENDENCIES: flag(true),
  /** Whether changes, sign-ins and failed sign-ins are recorded in the audit log. */
  AUDIT_ENABLED: flag(true),
  /** Retention of the audit log, in days. */
  AUDIT_DAYS: count(365, 1, 36_500),
  /**
   * A secret: creates an administrator with this password while there is none. Delete it
   * afterwards.
   */
  FIRST_ADMIN_PASSWORD: z.string("a text").default(""),
  FIRST_ADMIN_USER: z.string("a name").min(1, "a name").default("root"),
  FIRST_ADMIN_EMAIL: z.string("a text").default(""),
  /**
   * A secret: signs the commits and tags that the service creates. Without it nothing is signed.
   */
  SIGNING_KEY: text(
    "an armored OpenPGP private key or an OpenSSH private key, without a passphrase, or empty",
    SIGNING_KEY,
    "",
  ),
  /** The signer's name; "" takes APP_NAME. */
  SIGNING_NAME: text("a name of one line, or empty", /^[^\p{Cc}<>]*$/u, ""),
  SIGNING_EMAIL: text("an e-mail address, or empty", /^([^\s<>@]+@[^\s<>@]+)?$/, ""),
  /** Whether the first commit of a repository, created by auto_init, is signed. */
  SIGNING_INITIAL_COMMIT: flag(true),
  /** Whether commits that change files or notes through the API are signed. */
  SIGNING_CRUD_ACTIONS: flag(true),
  /** Whether annotated tags created through the API are signed. */
  SIGNING_MERGES: flag(true),
  SIGNING_TAGS: flag(true),
  /**
   * A secret: keys that encrypt stored values which must be read back, such as secrets of webhooks.
   * The first key encrypts, every key decrypts. Without keys, requests that store such values are
   * refused.
   */
  SEALING_KEYS: z
    .string(SEALING_KEYS)
    .refine((list) => parseSealingKeys(list) !== undefined, SEALING_KEYS)
    .default(""),
  /**
   * The sender of mails; "" sends none. Mails that wait are sealed, so SEALING_KEYS must be set
   * too.
   */
  MAIL_FROM: text("an e-mail address, or empty", /^([^\s<>@]+@[^\s<>@]+)?$/, ""),
  /** Days after which notifications that were read are deleted; 0 keeps them. */
  NOTIFICATION_DAYS: count(180, 0, 36_500),
  /**
   * Whether nobody can register. Otherwise who confirms an address gets an account, for which mail
   * must be on.
   */
  DISABLE_REGISTRATION: flag(true),
  /**
   * A secret: keys that sign the ID tokens of OpenID Connect. The first key signs, the public
   * halves of all are published. Without a key applications can have access, and nobody can sign in
   * elsewhere with their account here.
   */
  OAUTH_SIGNING_KEYS: text(
    "RSA private keys in PEM (PKCS #8, without a passphrase), one after another, or empty",
    OAUTH_SIGNING_KEYS,
    "",
  ),
  /** Whether clients of OAuth may register themselves. */
  OAUTH_DYNAMIC_REGISTRATION: flag(true),
  /** Whether the id of a client of OAuth may be the URL of a document that describes it. */
  OAUTH_CLIENT_DOCUMENTS: flag(true),
  /**
   * Whether the log line of a request counts the D1 rows read and written. Every row is read twice
   * then.
   */
  LOG_D1_ROWS: flag(false),
});

/**
 * The name of every variable. @public Used by scripts/serve/vars.ts, which imports this file by its
 * URL.
 */
export const VARIABLE_NAMES: readonly string[] = Object.keys(Variables.shape);

/** SECURITY: variables whose values are shown nowhere. @public As above. */
export const SECRET_NAMES: ReadonlySet<string> = new Set<keyof typeof Variables.shape>([
  "FIRST_ADMIN_PASSWORD",
  "SIGNING_KEY",
  "SEALING_KEYS",
  "OAUTH_SIGNING_KEYS",
]);

/** An operation whose commit or tag the service may sign. */
export type SignedOperation = "first_commit" | "change" | "merge" | "tag";

/** How the service signs the commits and tags it creates. */
export interface Signing {
  readonly format: "openpgp" | "ssh";
  /** The private key, armored. */
  readonly key: string;
  readonly name: string;
  readonly email: string;
  readonly operations: ReadonlySet<SignedOperation>;
}

/** A key that encrypts stored values. */
export interface SealingKey {
  /** The name that an encrypted value states. */
  readonly name: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The limits of an account's packages; infinite without a limit. */
interface PackageSettings {
  readonly isOn: boolean;
  readonly versionCountMax: number;
  readonly ownerBytesMax: number;
  readonly fileBytesMax: Readonly<Record<PackageType, number>>;
  readonly downloadCountMs: number;
}

/** When objects that nothing reaches are removed. */
interface CollectionSettings {
  /** For how long objects stay that refs reached, in milliseconds. */
  readonly graceMs: number;
  /**
   * Between two searches of a repository at least, in milliseconds; null for none unless somebody
   * asks.
   */
  readonly intervalMs: number | null;
  /** The part of a pack's bytes that must be unreachable for it to be written anew, in percent. */
  readonly lostPercent: number;
}

/** The settings of mirrors; infinite without a limit. */
export interface MirrorSettings {
  readonly isOn: boolean;
  readonly isNewPullAllowed: boolean;
  readonly isNewPushAllowed: boolean;
  readonly defaultIntervalSeconds: number;
  readonly minIntervalSeconds: number;
  readonly pauseMs: number;
}

/** A variable of the service as it is in force. */
interface Setting {
  readonly name: string;
  /** As it was set, or its default; of a secret only whether it is set. */
  readonly value: string;
  readonly isSet: boolean;
}

export interface Config {
  /** All variables in force, for administrators. */
  settings: readonly Setting[];
  rootUrl: string;
  /**
   * The base URL in everything that others than the caller read; "" takes the origin of the
   * request.
   */
  publicUrl: string;
  listenUrls: readonly string[];
  appName: string;
  pageSizeDefault: number;
  pageSizeMax: number;
  searchPageSizeMax: number;
  allowedOrigins: "*" | readonly string[];
  isSitemapOn: boolean;
  isSignInRequired: boolean;
  clientAddressHeader: string;
  noReplyDomain: string;
  defaultBranch: string;
  repoCountMax: number;
  ownerBytesMax: number;
  tokenCountMax: number;
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
  remotePackMaxBytes: number;
  importMaxBytes: number;
  gitObjectMaxBytes: number;
  gitPackMaxInflatedBytes: number;
  gitPackMaxInflatedRatio: number;
  findingSeverities: FindingSeverities;
  gitRepositoryMaxBytes: number;
  /** When objects that nothing reaches are collected. */
  gitCollection: CollectionSettings;
  isLfsOn: boolean;
  lfsFileMaxBytes: number;
  lfsBatchMax: number;
  lfsLockPageMax: number;
  areAttachmentsOn: boolean;
  /** Endings and media types in lower case; empty allows all. */
  attachmentTypes: readonly string[];
  /** As `attachmentTypes`, for files of releases. */
  releaseTypes: readonly string[];
  attachmentMaxMib: number;
  attachmentCountMax: number;
  artifactMaxBytes: number;
  /** For how long artifacts are kept at most, and by default, in milliseconds. */
  artifactRetentionMs: number;
  packages: PackageSettings;
  allowedHosts: HostList;
  blockedHosts: HostList;
  dnsResolverUrl: string;
  deliverTimeoutMs: number;
  hookPauseMs: number;
  areWebhooksDisabled: boolean;
  hookCountMax: number;
  deliveryDays: number;
  /** Days after which events are deleted; 0 keeps them. */
  eventDays: number;
  areMigrationsDisabled: boolean;
  migrationWaitMs: number;
  mirrors: MirrorSettings;
  remoteTimeoutMs: number;
  areForeignDependenciesAllowed: boolean;
  isAuditOn: boolean;
  auditDays: number;
  logsD1Rows: boolean;
  /** Days after which notifications that were read are deleted; 0 keeps them. */
  notificationDays: number;
  /** "" sends no mail. */
  mailFrom: string;
  isRegistrationAllowed: boolean;
  signing: Signing | undefined;
  /** The first key encrypts, every key decrypts. */
  sealingKeys: readonly SealingKey[];
  /** PEM texts. The first key signs. */
  oauthSigningKeys: readonly string[];
  mayClientsRegister: boolean;
  mayClientsHaveDocuments: boolean;
  firstAdministrator: { name: string; password: string; email: string } | undefined;
}

/** The address of the service where neither its configuration nor a stored request names one. */
export const FALLBACK_PUBLIC_URL = "http://localhost";

/** The public URL that was asked for last, and its host: a service has few. */
let lastHost = { publicUrl: "", hostname: "" };

/** The domain of the e-mail addresses shown instead of hidden ones. */
export function noReplyDomain(config: Config, publicUrl: string): string {
  if (config.noReplyDomain) return config.noReplyDomain;
  if (publicUrl !== lastHost.publicUrl) {
    lastHost = { publicUrl, hostname: new URL(publicUrl).hostname };
  }
  return `noreply.${lastHost.hostname}`;
}

/**
 * Reads the configuration from the Worker's variables and ignores bindings.
 *
 * @throws Error naming each wrong variable and its allowed values, never its value: it may be a
 *   secret.
 */
export function parseConfig(env: object): Config {
  const variables = parseVariables(env);
  return {
    settings: toSettings(env, variables),
    rootUrl: variables.ROOT_URL,
    publicUrl: variables.ROOT_URL || (variables.LISTEN_URLS[0] ?? ""),
    listenUrls: variables.LISTEN_URLS,
    appName: variables.APP_NAME,
    pageSizeDefault: Math.min(variables.DEFAULT_PAGING_NUM, variables.MAX_RESPONSE_ITEMS),
    pageSizeMax: variables.MAX_RESPONSE_ITEMS,
    searchPageSizeMax: variables.EXPLORE_PAGE_SIZE_MAX,
    allowedOrigins: variables.CORS_ALLOW_DOMAIN,
    isSitemapOn: variables.ENABLE_SITEMAP,
    isSignInRequired: variables.REQUIRE_SIGNIN_VIEW,
    clientAddressHeader: variables.CLIENT_ADDRESS_HEADER,
    noReplyDomain: variables.NO_REPLY_DOMAIN,
    defaultBranch: variables.DEFAULT_BRANCH,
    repoCountMax: variables.MAX_CREATION_LIMIT,
    ownerBytesMax: variables.MAX_BYTES_PER_OWNER,
    tokenCountMax: variables.MAX_TOKENS_PER_USER,
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
    remotePackMaxBytes: variables.REMOTE_PACK_MAX_BYTES,
    importMaxBytes: variables.IMPORT_MAX_BYTES,
    gitObjectMaxBytes: variables.GIT_OBJECT_MAX_BYTES,
    gitPackMaxInflatedBytes: variables.GIT_PACK_MAX_INFLATED_BYTES,
    gitPackMaxInflatedRatio: variables.GIT_PACK_MAX_INFLATED_RATIO,
    findingSeverities: variables.RECEIVE_FSCK,
    gitRepositoryMaxBytes: variables.GIT_REPOSITORY_MAX_BYTES,
    gitCollection: {
      graceMs: variables.GIT_GC_GRACE_DAYS * DAY_MS,
      intervalMs: variables.GIT_GC_INTERVAL_DAYS * DAY_MS || null,
      lostPercent: variables.GIT_GC_LOST_PERCENT,
    },
    isLfsOn: variables.LFS_START_SERVER,
    lfsFileMaxBytes: variables.LFS_MAX_FILE_SIZE || Number.POSITIVE_INFINITY,
    lfsBatchMax: variables.LFS_MAX_BATCH_SIZE || Number.POSITIVE_INFINITY,
    lfsLockPageMax: variables.LFS_LOCKS_PAGING_NUM,
    areAttachmentsOn: variables.ATTACHMENT_ENABLED,
    attachmentTypes: variables.ATTACHMENT_ALLOWED_TYPES,
    releaseTypes: variables.RELEASE_ALLOWED_TYPES,
    attachmentMaxMib: variables.ATTACHMENT_MAX_SIZE,
    attachmentCountMax: variables.ATTACHMENT_MAX_FILES,
    artifactMaxBytes: variables.ARTIFACT_MAX_BYTES,
    artifactRetentionMs: variables.ARTIFACT_RETENTION_DAYS * DAY_MS,
    packages: toPackageSettings(variables),
    allowedHosts: variables.ALLOWED_HOST_LIST,
    blockedHosts: variables.BLOCKED_HOST_LIST,
    dnsResolverUrl: variables.DNS_RESOLVER_URL,
    deliverTimeoutMs: variables.DELIVER_TIMEOUT * 1000,
    hookPauseMs: variables.WEBHOOK_PAUSE_DAYS * DAY_MS || Number.POSITIVE_INFINITY,
    areWebhooksDisabled: variables.DISABLE_WEBHOOKS,
    hookCountMax: variables.WEBHOOKS_MAX,
    deliveryDays: variables.WEBHOOK_DELIVERY_DAYS,
    eventDays: variables.EVENT_RETENTION_DAYS,
    areMigrationsDisabled: variables.DISABLE_MIGRATIONS,
    migrationWaitMs: variables.MIGRATION_WAIT_SECONDS * 1000,
    mirrors: {
      isOn: variables.MIRROR_ENABLED,
      isNewPullAllowed: variables.MIRROR_ENABLED && !variables.MIRROR_DISABLE_NEW_PULL,
      isNewPushAllowed: variables.MIRROR_ENABLED && !variables.MIRROR_DISABLE_NEW_PUSH,
      defaultIntervalSeconds: variables.MIRROR_DEFAULT_INTERVAL_MINUTES * 60,
      minIntervalSeconds: variables.MIRROR_MIN_INTERVAL_MINUTES * 60,
      pauseMs: variables.MIRROR_PAUSE_DAYS * DAY_MS || Number.POSITIVE_INFINITY,
    },
    remoteTimeoutMs: variables.REMOTE_TIMEOUT * 1000,
    areForeignDependenciesAllowed: variables.ALLOW_CROSS_REPOSITORY_DEPENDENCIES,
    isAuditOn: variables.AUDIT_ENABLED,
    auditDays: variables.AUDIT_DAYS,
    logsD1Rows: variables.LOG_D1_ROWS,
    notificationDays: variables.NOTIFICATION_DAYS,
    mailFrom: variables.MAIL_FROM,
    isRegistrationAllowed: !variables.DISABLE_REGISTRATION,
    signing: toSigning(variables),
    sealingKeys: parseSealingKeys(variables.SEALING_KEYS) ?? [],
    oauthSigningKeys:
      variables.OAUTH_SIGNING_KEYS.match(/-----BEGIN[^]+?-----END [A-Z ]+-----/g) ?? [],
    mayClientsRegister: variables.OAUTH_DYNAMIC_REGISTRATION,
    mayClientsHaveDocuments: variables.OAUTH_CLIENT_DOCUMENTS,
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

/** SECURITY: a secret is never part of it, nor anything that was made of one. */
function toSettings(env: object, variables: z.infer<typeof Variables>): Setting[] {
  const given: Readonly<Record<string, unknown>> = { ...env };
  return Object.entries(variables).map(([name, value]) => {
    const set = given[name];
    const isSet = typeof set === "string";
    if (SECRET_NAMES.has(name)) {
      return { name, value: isSet && set !== "" ? "set" : "not set", isSet };
    }
    if (isSet) return { name, value: set, isSet };
    const shown = typeof value === "object" ? "" : String(value);
    return { name, value: Array.isArray(value) ? value.join(", ") : shown, isSet };
  });
}

/**
 * Reads each variable, with its default where it is not set.
 *
 * @throws Error as `parseConfig` does.
 * @public As above.
 */
export function parseVariables(env: object): z.infer<typeof Variables> {
  const { success, data, error } = Variables.safeParse(env);
  if (success) return data;
  const faults = error.issues.map((issue) => `${issue.path.join(".")} must be ${issue.message}`);
  throw new Error(`wrong configuration: ${[...new Set(faults)].join("; ")}`);
}

function toPackageSettings(variables: z.infer<typeof Variables>): PackageSettings {
  const limit = (value: number): number => (value < 0 ? Number.POSITIVE_INFINITY : value);
  const sizes = PACKAGE_TYPES.map((type) => [type, limit(variables[sizeVariable(type)])]);
  return {
    isOn: variables.PACKAGES_ENABLED,
    versionCountMax: limit(variables.PACKAGES_LIMIT_TOTAL_OWNER_COUNT),
    ownerBytesMax: limit(variables.PACKAGES_LIMIT_TOTAL_OWNER_SIZE),
    fileBytesMax: Object.fromEntries(sizes) as Record<PackageType, number>,
    downloadCountMs: variables.PACKAGES_DOWNLOAD_COUNT_SECONDS * 1000,
  };
}

function toSigning(variables: z.infer<typeof Variables>): Signing | undefined {
  const key = variables.SIGNING_KEY.trim();
  if (key === "") return undefined;
  const operations: [SignedOperation, boolean][] = [
    ["first_commit", variables.SIGNING_INITIAL_COMMIT],
    ["change", variables.SIGNING_CRUD_ACTIONS],
    ["merge", variables.SIGNING_MERGES],
    ["tag", variables.SIGNING_TAGS],
  ];
  return {
    format: key.startsWith("-----BEGIN PGP") ? "openpgp" : "ssh",
    key,
    name: variables.SIGNING_NAME || variables.APP_NAME,
    email: variables.SIGNING_EMAIL,
    operations: new Set(
      operations.filter(([, isSigned]) => isSigned).map(([operation]) => operation),
    ),
  };
}

/** @returns Undefined if the text is not a list of keys, or two keys have the same name. */
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
