import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { parseConfig } from "../src/config.ts";
import { PACKAGE_TYPES } from "../src/db/schema/index.ts";
import { DEFAULT_SEVERITIES } from "../src/git/object/finding.ts";
import { formatBase64 } from "../src/lib/base64.ts";

const HOST_LIST = "external, private, loopback, *, networks and names, separated by commas";

/** The refused values of each variable. Error messages must not contain them. */
const REFUSED: Readonly<Record<string, { allowed: string; values: unknown[] }>> = {
  ROOT_URL: {
    allowed: "an http or https address without a path, or empty",
    values: [
      "forge.example",
      "ftp://forge.example",
      "https://forge.example/",
      "https://forge.example/git",
      "https://forge.example?x",
      "https://forge.example#x",
      "https://forge example",
      "javascript:alert(1)",
      "https://user:secret@forge.example",
      "https://forge.example:99999",
      "https://[",
    ],
  },
  LISTEN_URLS: {
    allowed: "http or https addresses without a path, separated by commas, or empty",
    values: [
      "forge.example",
      "https://forge.example,",
      "https://forge.example/",
      "https://a.example https://b.example",
      "https://user:secret@forge.example",
      "https://forge.example:99999",
      "ftp://forge.example",
    ],
  },
  APP_NAME: { allowed: "a name", values: [""] },
  DEFAULT_PAGING_NUM: {
    allowed: "a whole number from 1 to 1000",
    values: wrongNumbers("0", "1001"),
  },
  MAX_RESPONSE_ITEMS: {
    allowed: "a whole number from 1 to 1000",
    values: wrongNumbers("0", "1001"),
  },
  EXPLORE_PAGE_SIZE_MAX: {
    allowed: "a whole number from 1 to 1000",
    values: wrongNumbers("0", "1001"),
  },
  ENABLE_SITEMAP: { allowed: "true or false", values: wrongFlags() },
  REQUIRE_SIGNIN_VIEW: { allowed: "true or false", values: wrongFlags() },
  CLIENT_ADDRESS_HEADER: {
    allowed: "the name of a header, or empty",
    values: ["X Real IP", "X-Real-IP:", "x\n"],
  },
  NO_REPLY_DOMAIN: {
    allowed: "a lower-case domain name, or empty",
    values: ["Example.com", "a..b", ".a", "a.", "a b", "user@a"],
  },
  DEFAULT_BRANCH: {
    allowed: "a branch name",
    values: ["", "-x", ".x", "a b", "a/b", "a~1", "a".repeat(40), "A".repeat(64)],
  },
  MAX_CREATION_LIMIT: {
    allowed: "a whole number from -1 to 1000000000",
    values: wrongNumbers("-2", "1000000001"),
  },
  MAX_BYTES_PER_OWNER: {
    allowed: "a whole number from -1 to 999999999999",
    values: wrongNumbers("-2", "1000000000000"),
  },
  MAX_TOKENS_PER_USER: {
    allowed: "a whole number from -1 to 1000000000",
    values: wrongNumbers("-2", "1000000001"),
  },
  PACKAGES_ENABLED: { allowed: "true or false", values: wrongFlags() },
  PACKAGES_LIMIT_TOTAL_OWNER_COUNT: {
    allowed: "a whole number from -1 to 1000000000",
    values: wrongNumbers("-2", "1000000001"),
  },
  PACKAGES_LIMIT_TOTAL_OWNER_SIZE: {
    allowed: "a whole number from -1 to 999999999999",
    values: wrongNumbers("-2", "1000000000000"),
  },
  ...Object.fromEntries(
    PACKAGE_TYPES.map((type) => [
      `PACKAGES_LIMIT_SIZE_${type.toUpperCase()}`,
      {
        allowed: "a whole number from -1 to 999999999999",
        values: wrongNumbers("-2", "1000000000000"),
      },
    ]),
  ),
  PACKAGES_DOWNLOAD_COUNT_SECONDS: {
    allowed: "a whole number from 0 to 25",
    values: wrongNumbers("-1", "26"),
  },
  AUTO_WATCH_NEW_REPOS: { allowed: "true or false", values: wrongFlags() },
  MIN_PASSWORD_LENGTH: {
    allowed: "a whole number from 1 to 128",
    values: wrongNumbers("0", "129"),
  },
  CONTENTS_BODY_MAX_BYTES: {
    allowed: "a whole number from 1024 to 16777216",
    values: wrongNumbers("1023", "16777217"),
  },
  JSON_BODY_MAX_BYTES: {
    allowed: "a whole number from 1024 to 16777216",
    values: wrongNumbers("1023", "16777217"),
  },
  MARKUP_MAX_BYTES: {
    allowed: "a whole number from 1024 to 4194304",
    values: wrongNumbers("1023", "4194305"),
  },
  ENABLE_PUSH_CREATE_USER: { allowed: "true or false", values: wrongFlags() },
  ENABLE_PUSH_CREATE_ORG: { allowed: "true or false", values: wrongFlags() },
  DEFAULT_PUSH_CREATE_PRIVATE: { allowed: "true or false", values: wrongFlags() },
  PUSH_MAX_BYTES: {
    allowed: "a whole number from 1024 to 999999999999",
    values: wrongNumbers("1023", "1000000000000"),
  },
  PUSH_MAX_REFS: {
    allowed: "a whole number from 1 to 100000",
    values: wrongNumbers("0", "100001"),
  },
  REMOTE_PACK_MAX_BYTES: {
    allowed: "a whole number from 1024 to 999999999999",
    values: wrongNumbers("1023", "1000000000000"),
  },
  IMPORT_MAX_BYTES: {
    allowed: "a whole number from 1024 to 999999999999",
    values: wrongNumbers("1023", "1000000000000"),
  },
  GIT_OBJECT_MAX_BYTES: {
    allowed: "a whole number from 1024 to 999999999999",
    values: wrongNumbers("1023", "1000000000000"),
  },
  GIT_PACK_MAX_INFLATED_BYTES: {
    allowed: "a whole number from 1024 to 999999999999",
    values: wrongNumbers("1023", "1000000000000"),
  },
  GIT_PACK_MAX_INFLATED_RATIO: {
    allowed: "a whole number from 1 to 1000000",
    values: wrongNumbers("0", "1000001"),
  },
  RECEIVE_FSCK: {
    allowed:
      "findings of git fsck with error, warn or ignore, as in badTimezone=error, with commas between",
    values: [
      "badTimezone",
      "badTimezone=fatal",
      "x=warn",
      "badTree=warn",
      "nulInHeader=ignore",
      "=",
    ],
  },
  GIT_REPOSITORY_MAX_BYTES: {
    allowed: "a whole number from -1 to 999999999999",
    values: wrongNumbers("-2", "1000000000000"),
  },
  LFS_START_SERVER: { allowed: "true or false", values: wrongFlags() },
  LFS_MAX_FILE_SIZE: {
    allowed: "a whole number from 0 to 999999999999",
    values: wrongNumbers("-1", "1000000000000"),
  },
  LFS_MAX_BATCH_SIZE: {
    allowed: "a whole number from 0 to 1000000",
    values: wrongNumbers("-1", "1000001"),
  },
  LFS_LOCKS_PAGING_NUM: {
    allowed: "a whole number from 1 to 1000",
    values: wrongNumbers("0", "1001"),
  },
  ATTACHMENT_ENABLED: { allowed: "true or false", values: wrongFlags() },
  ATTACHMENT_ALLOWED_TYPES: {
    allowed:
      "endings such as .png and media types such as image/* with commas between, or empty for all",
    values: ["png", ".png,", "image", "*/png", ".a b"],
  },
  RELEASE_ALLOWED_TYPES: {
    allowed:
      "endings such as .png and media types such as image/* with commas between, or empty for all",
    values: ["png", ".png,", "image", "*/png", ".a b"],
  },
  ATTACHMENT_MAX_SIZE: {
    allowed: "a whole number from 1 to 2048",
    values: wrongNumbers("0", "2049"),
  },
  ATTACHMENT_MAX_FILES: {
    allowed: "a whole number from 1 to 1000",
    values: wrongNumbers("0", "1001"),
  },
  ARTIFACT_MAX_BYTES: {
    allowed: "a whole number from 1 to 999999999999",
    values: wrongNumbers("0", "1000000000000"),
  },
  ARTIFACT_RETENTION_DAYS: {
    allowed: "a whole number from 1 to 36500",
    values: wrongNumbers("0", "36501"),
  },
  DISABLE_MIGRATIONS: { allowed: "true or false", values: wrongFlags() },
  MIGRATION_WAIT_SECONDS: {
    allowed: "a whole number from 0 to 60",
    values: wrongNumbers("-1", "61"),
  },
  MIRROR_ENABLED: { allowed: "true or false", values: wrongFlags() },
  MIRROR_DISABLE_NEW_PULL: { allowed: "true or false", values: wrongFlags() },
  MIRROR_DISABLE_NEW_PUSH: { allowed: "true or false", values: wrongFlags() },
  MIRROR_DEFAULT_INTERVAL_MINUTES: {
    allowed: "a whole number from 1 to 525600",
    values: wrongNumbers("0", "525601"),
  },
  MIRROR_MIN_INTERVAL_MINUTES: {
    allowed: "a whole number from 1 to 525600",
    values: wrongNumbers("0", "525601"),
  },
  MIRROR_PAUSE_DAYS: { allowed: "a whole number from 0 to 365", values: wrongNumbers("-1", "366") },
  REMOTE_TIMEOUT: { allowed: "a whole number from 1 to 600", values: wrongNumbers("0", "601") },
  DELIVER_TIMEOUT: { allowed: "a whole number from 1 to 20", values: wrongNumbers("0", "21") },
  WEBHOOK_PAUSE_DAYS: {
    allowed: "a whole number from 0 to 365",
    values: wrongNumbers("-1", "366"),
  },
  FIRST_ADMIN_PASSWORD: { allowed: "a text", values: [1] },
  FIRST_ADMIN_USER: { allowed: "a name", values: ["", 1] },
  FIRST_ADMIN_EMAIL: { allowed: "a text", values: [1] },
  SIGNING_KEY: {
    allowed:
      "an armored OpenPGP private key or an OpenSSH private key, without a passphrase, or empty",
    values: [
      "hunter2",
      "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nabc\n-----END PGP PUBLIC KEY BLOCK-----",
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nabc",
      "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
      // The beginning of a key with a passphrase.
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0\n-----END OPENSSH PRIVATE KEY-----",
    ],
  },
  SEALING_KEYS: {
    allowed: "names and keys of 32 bytes in base64, as in name:key, with commas between, or empty",
    values: [
      "hunter2",
      `${"A".repeat(43)}=`,
      `one:${"A".repeat(42)}==`,
      `one:${"A".repeat(87)}=`,
      `One:${"A".repeat(43)}=`,
      `:${"A".repeat(43)}=`,
      `one:${"A".repeat(43)}=,`,
      // Two keys of the same name are ambiguous.
      `one:${"A".repeat(43)}=,one:${"B".repeat(42)}A=`,
    ],
  },
  CORS_ALLOW_DOMAIN: {
    allowed:
      "* for all, or origins such as https://app.example, separated by commas, or empty for none",
    values: [
      "app.example",
      "https://app.example/",
      "https://App.example",
      "*,https://a.example",
      "https://*.example",
      "null",
    ],
  },
  OAUTH_SIGNING_KEYS: {
    allowed: "RSA private keys in PEM (PKCS #8, without a passphrase), one after another, or empty",
    values: [
      "key",
      "-----BEGIN RSA PRIVATE KEY-----\nAA==\n-----END RSA PRIVATE KEY-----\n",
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\nAA==\n",
    ],
  },
  SIGNING_NAME: { allowed: "a name of one line, or empty", values: ["a\nb", "a <b>"] },
  SIGNING_EMAIL: {
    allowed: "an e-mail address, or empty",
    values: ["a", "a@b\n", "<a@b.example>"],
  },
  SIGNING_INITIAL_COMMIT: { allowed: "true or false", values: wrongFlags() },
  SIGNING_CRUD_ACTIONS: { allowed: "true or false", values: wrongFlags() },
  SIGNING_MERGES: { allowed: "true or false", values: wrongFlags() },
  SIGNING_TAGS: { allowed: "true or false", values: wrongFlags() },
  ALLOWED_HOST_LIST: { allowed: HOST_LIST, values: wrongHostLists() },
  BLOCKED_HOST_LIST: { allowed: HOST_LIST, values: wrongHostLists() },
  DNS_RESOLVER_URL: {
    allowed: "an http or https address, or empty",
    values: [
      "1.1.1.1",
      "udp://1.1.1.1",
      "https://dns.example/?name=x",
      "https://dns.example/ x",
      "https://user:secret@dns.example/",
    ],
  },
  DISABLE_WEBHOOKS: { allowed: "true or false", values: wrongFlags() },
  WEBHOOKS_MAX: { allowed: "a whole number from 1 to 1000", values: wrongNumbers("0", "1001") },
  WEBHOOK_DELIVERY_DAYS: {
    allowed: "a whole number from 1 to 36500",
    values: wrongNumbers("0", "36501"),
  },
  EVENT_RETENTION_DAYS: {
    allowed: "a whole number from 0 to 36500",
    values: wrongNumbers("-1", "36501"),
  },
  MAIL_FROM: {
    allowed: "an e-mail address, or empty",
    values: ["forge", "Forge <forge@a.example>", "forge@a.example ", "a@b@c"],
  },
  DISABLE_REGISTRATION: { allowed: "true or false", values: wrongFlags() },
  OAUTH_DYNAMIC_REGISTRATION: { allowed: "true or false", values: wrongFlags() },
  OAUTH_CLIENT_DOCUMENTS: { allowed: "true or false", values: wrongFlags() },
  ALLOW_CROSS_REPOSITORY_DEPENDENCIES: { allowed: "true or false", values: wrongFlags() },
  GIT_GC_GRACE_DAYS: {
    allowed: "a whole number from 0 to 36500",
    values: wrongNumbers("-1", "36501"),
  },
  GIT_GC_INTERVAL_DAYS: {
    allowed: "a whole number from 0 to 36500",
    values: wrongNumbers("-1", "36501"),
  },
  GIT_GC_LOST_PERCENT: {
    allowed: "a whole number from 0 to 100",
    values: wrongNumbers("-1", "101"),
  },
  NOTIFICATION_DAYS: {
    allowed: "a whole number from 0 to 36500",
    values: wrongNumbers("-1", "36501"),
  },
  AUDIT_ENABLED: { allowed: "true or false", values: wrongFlags() },
  AUDIT_DAYS: { allowed: "a whole number from 1 to 36500", values: wrongNumbers("0", "36501") },
  LOG_D1_ROWS: { allowed: "true or false", values: wrongFlags() },
};

function wrongNumbers(...outside: string[]): string[] {
  return [...outside, "", "many", "1.5", "1e3", " 5", "0x10", "9".repeat(13)];
}

function wrongHostLists(): string[] {
  return [
    "external private",
    "10.0.0.0/33",
    "10.0.0/8",
    "127.1",
    "http://a.example",
    "a..b",
    "[::1]",
    "a:80",
  ];
}

function wrongFlags(): string[] {
  return ["", "yes", "1", "TRUE", "on", " true"];
}

const cases = Object.entries(REFUSED).flatMap(([name, { allowed, values }]) =>
  values.map((value) => ({ name, allowed, value })),
);

/** The message of the error that `parseConfig` throws, or "". */
function refusalOf(variables: object): string {
  try {
    parseConfig(variables);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

describe("parseConfig", () => {
  it("has a default for each variable, and ignores bindings", () => {
    expect(
      parseConfig({
        ...env,
        ALLOWED_HOST_LIST: undefined,
        DNS_RESOLVER_URL: undefined,
        WEBHOOKS_MAX: undefined,
        PACKAGES_DOWNLOAD_COUNT_SECONDS: undefined,
      }),
    ).toEqual(parseConfig({}));
    expect(parseConfig({})).toMatchObject({
      rootUrl: "",
      pageSizeDefault: 30,
      pageSizeMax: 50,
      searchPageSizeMax: 50,
      isSignInRequired: false,
      defaultBranch: "main",
      jsonBodyMaxBytes: 1_048_576,
    });
  });

  it.each(cases)(
    "refuses $value for $name, naming the variable and its allowed values",
    ({ name, allowed, value }) => {
      expect(refusalOf({ [name]: value })).toBe(`wrong configuration: ${name} must be ${allowed}`);
    },
  );

  // SECURITY: a value in the wrong variable may be a secret, and the message is logged.
  it("never repeats a value of any type in the message", () => {
    const secret = "hunter2-hunter2";
    for (const [name, { allowed }] of Object.entries(REFUSED)) {
      for (const value of [{ [secret]: secret }, [secret], 987_654_321, true, null]) {
        expect(refusalOf({ [name]: value }), name).toBe(
          `wrong configuration: ${name} must be ${allowed}`,
        );
      }
    }
    expect(refusalOf({ REQUIRE_SIGNIN_VIEW: secret, ROOT_URL: secret })).not.toContain(secret);
  });

  it("names all wrong variables in one message", () => {
    const message = refusalOf({ ROOT_URL: "x", MAX_RESPONSE_ITEMS: "0", LOG_D1_ROWS: "?" });
    for (const name of ["ROOT_URL", "MAX_RESPONSE_ITEMS", "LOG_D1_ROWS"]) {
      expect(message).toContain(name);
    }
  });

  it("reads only variables that have refused values in this test", () => {
    const read = new Set<string>();
    const watched = new Proxy(
      {},
      {
        get: (_, name) => void read.add(String(name)),
        has: (_, name) => (read.add(String(name)), false),
      },
    );
    parseConfig(watched);
    expect([...read].filter((name) => /^[A-Z]/.test(name)).toSorted()).toEqual(
      Object.keys(REFUSED).toSorted(),
    );
  });

  it("takes the public URL from ROOT_URL, or else from the first of LISTEN_URLS", () => {
    const LISTEN_URLS = "http://10.0.0.1:8787, http://forge.internal";
    const listenUrls = ["http://10.0.0.1:8787", "http://forge.internal"];
    const publicUrl = "https://forge.example";
    expect(parseConfig({})).toMatchObject({ publicUrl: "", listenUrls: [] });
    expect(parseConfig({ LISTEN_URLS })).toMatchObject({ publicUrl: listenUrls[0], listenUrls });
    expect(parseConfig({ LISTEN_URLS, ROOT_URL: publicUrl })).toMatchObject({ publicUrl });
  });

  it("limits the default page size to the maximum page size", () => {
    expect(parseConfig({ DEFAULT_PAGING_NUM: "40", MAX_RESPONSE_ITEMS: "10" })).toMatchObject({
      pageSizeDefault: 10,
      pageSizeMax: 10,
    });
  });

  it("converts webhook times to milliseconds, and 0 days to never pausing", () => {
    expect(parseConfig({})).toMatchObject({ deliverTimeoutMs: 5000, hookPauseMs: 432_000_000 });
    expect(parseConfig({ DELIVER_TIMEOUT: "20", WEBHOOK_PAUSE_DAYS: "0" })).toMatchObject({
      deliverTimeoutMs: 20_000,
      hookPauseMs: Number.POSITIVE_INFINITY,
    });
  });

  it("changes the severities of the findings that are named, in any case", () => {
    const RECEIVE_FSCK = "badtimezone=error, hasDotgit = warn,nulInHeader=error,";
    expect(parseConfig({ RECEIVE_FSCK }).findingSeverities).toEqual({
      ...DEFAULT_SEVERITIES,
      badTimezone: "error",
      hasDotgit: "warn",
    });
  });

  it("parses sealing keys in their order", () => {
    const [one, two] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const SEALING_KEYS = `new:${formatBase64(one)}, old:${formatBase64(two)}`;
    expect(parseConfig({ SEALING_KEYS }).sealingKeys).toEqual([
      { name: "new", bytes: one },
      { name: "old", bytes: two },
    ]);
  });

  it("accepts the largest and the smallest allowed values", () => {
    expect(parseConfig({ MAX_CREATION_LIMIT: "-1", MIN_PASSWORD_LENGTH: "128" })).toMatchObject({
      repoCountMax: -1,
      passwordLengthMin: 128,
    });
    expect(parseConfig({ ROOT_URL: "https://forge.example:8443" }).rootUrl).toBe(
      "https://forge.example:8443",
    );
  });
});
