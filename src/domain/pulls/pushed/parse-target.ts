import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { parseBase64 } from "../../../lib/base64.ts";

/** The target of a push to `refs/for/…`. */
export interface PullTarget {
  readonly base: string;
  /** The same as byte text, as in the names of refs. */
  readonly baseRef: string;
  /** "" if the ref names none. */
  readonly topic: string;
}

const FOR = "refs/for/";

/** Whether a push to this ref opens or updates a pull request. */
export const isForPull = (ref: string): boolean => ref.startsWith(FOR);

/**
 * Parses `refs/for/<base>` and `refs/for/<base>/<topic>`. A base that is the whole name counts
 * first, then the shortest.
 *
 * @param isBranch Whether a branch has the short name, in byte text.
 * @returns Undefined if no branch has the name.
 */
export function parsePullTarget(
  ref: ByteText,
  isBranch: (name: string) => boolean,
): PullTarget | undefined {
  const name = ref.slice(FOR.length);
  const target = (base: string, topic: string): PullTarget => ({
    base: decodeText(base as ByteText),
    baseRef: base,
    topic: decodeText(topic as ByteText),
  });
  if (isBranch(name)) return target(name, "");
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
    const [base, topic] = [name.slice(0, at), name.slice(at + 1)];
    if (topic !== "" && isBranch(base)) return target(base, topic);
  }
  return undefined;
}

/** The push options about pull requests. */
export interface PullOptions {
  /** "" for none. */
  readonly topic: string;
  readonly title: string;
  readonly description: string;
  /** Whether an update may leave out commits of the former head. */
  readonly isForced: boolean;
}

/** Parses the options of a push; the last one of a name wins, and unknown ones are ignored. */
export function parsePullOptions(lines: readonly ByteText[]): PullOptions {
  const values = new Map<string, string>();
  for (const line of lines) {
    const [name = "", ...rest] = decodeText(line).split("=");
    values.set(name, rest.length > 0 ? rest.join("=") : "true");
  }
  const textOf = (name: string): string => decodeValue(values.get(name) ?? "");
  return {
    topic: values.get("topic") ?? "",
    title: textOf("title").trim(),
    description: textOf("description"),
    isForced: /^(?:1|t|true)$/i.test(values.get("force-push") ?? ""),
  };
}

const BASE64 = "{base64}";

/** Options have one line: a longer text comes in base64. Invalid base64 is taken literally. */
function decodeValue(value: string): string {
  const bytes = value.startsWith(BASE64) ? parseBase64(value.slice(BASE64.length)) : undefined;
  return bytes ? new TextDecoder().decode(bytes) : value;
}
