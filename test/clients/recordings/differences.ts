import type { Answer, GitAnswer, GitStep } from "./recording.ts";

type Json = Answer["body"];

/** Fields in which no two servers agree: addresses of pictures, of SSH, and times of mirrors. */
const PASSED = /\.(?:avatar_url|ssh_url|mirror_updated)$/;
/** The words of refusals, which clients show and do not compare. */
const WORDS = /\.(?:message|errors)$/;

/** A time that never was, or an empty value in its place. */
const isNever = (value: Json): boolean =>
  value === null || (typeof value === "string" && /^(?:|(?:0001|1970)-01-01T.*)$/.test(value));

/** What a placeholder of a recording matches; others stand for one value each, by number. */
const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/^<time>$/, String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`],
  [/^<sha:\d+>$/, "[0-9a-f]{40}"],
  [/^<uuid:\d+>$/, "[0-9a-f-]{36}"],
  [/^<fp:\d+>$/, "[A-Za-z0-9+/]{43}"],
  [/^<id(?::\w+:\d+)?>$/, String.raw`\d+`],
  [/^<(?:last8|size|elapsed|hash|name|upload|jwt|gto|gta)>$/, ".+?"],
];
const PLACEHOLDER = /<(?:root|host|run|[a-z]+\d?(?::\w+)*)>/g;

/**
 * Compares answers with those of one recording.
 *
 * Ids, object names and times differ by nature: a recording has numbered placeholders for them, and
 * each stands for one value throughout the recording.
 */
export class Comparison {
  private readonly fixed: ReadonlyMap<string, string>;
  private bound = new Map<string, string>();
  /** The placeholder that stands for a value, by kind and value. */
  private holders = new Map<string, string>();

  constructor(serviceUrl: string, run: string) {
    this.fixed = new Map([
      ["<root>", serviceUrl],
      ["<host>", new URL(serviceUrl).host],
      ["<run>", run],
    ]);
  }

  /**
   * Remembers what placeholders stand for. @returns Takes back what they came to stand for since.
   */
  save(): () => void {
    const [bound, holders] = [new Map(this.bound), new Map(this.holders)];
    return () => {
      this.bound = new Map(bound);
      this.holders = new Map(holders);
    };
  }

  /** The differences of an answer, one line each. A field that the recording lacks is none. */
  find(recorded: Answer, answer: Answer): string[] {
    if (recorded.status !== answer.status) {
      return [`.status: ${answer.status}, recorded ${recorded.status}`];
    }
    const headers = Object.keys(recorded.headers).flatMap((name) => {
      const [value = ""] =
        name === "content-type" ? (answer.headers[name] ?? "").split(";") : [answer.headers[name]];
      return this.compare(recorded.headers[name] ?? "", value, `.headers.${name}`);
    });
    // The contract: the body of a 404 is empty.
    if (answer.status === 404) return [];
    // The words of a refusal outside of the API.
    const isText = isObject(recorded.body) && "$text" in recorded.body;
    if (answer.status >= 400 && isText) return headers;
    return [...headers, ...this.compare(recorded.body, answer.body, ".body")];
  }

  /**
   * The differences of what commands with git did: whether they succeeded, which refs were refused,
   * and what they print themselves. The server's words are not compared.
   */
  findGit({ git, answer: recorded }: GitStep, answer: GitAnswer): string[] {
    const has = ({ exit }: GitAnswer): string => (exit === 0 ? "success" : "failure");
    if (has(recorded) !== has(answer)) {
      return [`.exit: ${answer.exit}, recorded ${recorded.exit}: ${answer.remote.join(" ")}`];
    }
    const refsOf = ({ rejected }: GitAnswer): string[] =>
      rejected.map((line) => line.replace(/ \(.*$/, ""));
    const prints = git.includes("remote: ");
    return [
      ...this.compare(refsOf(recorded), refsOf(answer), ".rejected"),
      ...(prints ? this.compare(recorded.remote, answer.remote, ".remote") : []),
    ];
  }

  private compare(recorded: Json, actual: Json, at: string): string[] {
    if (PASSED.test(at) || WORDS.test(at) || (isNever(recorded) && isNever(actual))) return [];
    const isEmptyList = Array.isArray(actual) && actual.length === 0;
    if (recorded === null && isEmptyList) return [];
    if (Array.isArray(recorded) && Array.isArray(actual)) {
      // The units of a team come in any order.
      if (at.endsWith(".units")) return this.compare(sorted(recorded), sorted(actual), `${at}*`);
      const length =
        recorded.length === actual.length
          ? []
          : [`${at}: ${actual.length} items, recorded ${recorded.length}`];
      const count = Math.min(recorded.length, actual.length);
      const items = recorded
        .slice(0, count)
        .flatMap((each: Json, index) =>
          this.compare(each, actual[index] as Json, `${at}[${index}]`),
        );
      return [...length, ...items];
    }
    if (isObject(recorded) && isObject(actual)) {
      return Object.entries(recorded).flatMap(([key, each]) => {
        const here = `${at}.${key}`;
        const other = actual[key];
        if (other !== undefined) return this.compare(each, other, here);
        return isNever(each) || PASSED.test(here) || WORDS.test(here)
          ? []
          : [`${here}: missing, recorded ${show(each)}`];
      });
    }
    const isSame =
      typeof recorded === "string" && (typeof actual === "string" || typeof actual === "number")
        ? this.matches(recorded, String(actual))
        : recorded === actual;
    return isSame ? [] : [`${at}: ${show(actual)}, recorded ${show(recorded)}`];
  }

  /**
   * Whether a text matches a recorded one; binds the placeholders that appear for the first time.
   */
  private matches(recorded: string, actual: string): boolean {
    const names: string[] = [];
    const placeholders = [...recorded.matchAll(PLACEHOLDER)];
    let pattern = "";
    let from = 0;
    for (const { 0: name, index } of placeholders) {
      pattern += escape(recorded.slice(from, index));
      from = index + name.length;
      const known = this.fixed.get(name) ?? this.bound.get(name);
      if (known !== undefined) pattern += escape(known);
      else {
        const kind = PLACEHOLDERS.find(([each]) => each.test(name))?.[1];
        pattern += kind === undefined ? escape(name) : `(${kind})`;
        if (kind !== undefined) names.push(name);
      }
    }
    pattern += escape(recorded.slice(from));
    const found = new RegExp(`^${pattern}$`, "s").exec(actual);
    return found !== null && names.every((name, index) => this.bind(name, found[index + 1] ?? ""));
  }

  /**
   * Binds a numbered placeholder to a value; false if another of its kind, or an earlier one, has a
   * different one.
   */
  private bind(name: string, value: string): boolean {
    if (!/:\d+>$/.test(name)) return true;
    const kind = name.replace(/\d+>$/, "");
    const holder = this.holders.get(kind + value) ?? name;
    this.holders.set(kind + value, holder);
    const bound = this.bound.get(name) ?? value;
    this.bound.set(name, bound);
    return holder === name && bound === value;
  }
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sorted = (list: readonly Json[]): Json => list.map(String).toSorted();

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");

const show = (value: Json): string => JSON.stringify(value).slice(0, 100);
