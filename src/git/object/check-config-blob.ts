import { readByteText } from "../byte-text.ts";
import { type Finding, Findings } from "./finding.ts";
import { parseSettings } from "./parse-settings.ts";

/**
 * Maximum size of a `.gitmodules` or `.gitattributes` file that is read, in bytes. Git reads
 * attributes of up to 100 MB.
 */
const CONFIG_BLOB_BYTES_MAX = 4 * 1024 * 1024;

/** Longest line of a `.gitattributes` file, in bytes without line feed, as in git's reader. */
const ATTRIBUTES_LINE_BYTES_MAX = 2047;

/** Returns the findings of `git fsck` on a `.gitattributes` file. */
export function checkGitattributes(content: Uint8Array, isStrict: boolean): Finding[] {
  const findings = new Findings(isStrict);
  if (content.length > CONFIG_BLOB_BYTES_MAX) {
    findings.add("gitattributesLarge");
    return findings.list;
  }
  let lineStart = 0;
  for (let at = 0; at <= content.length; at++) {
    if (at < content.length && content[at] !== 0x0a) continue;
    if (at - lineStart > ATTRIBUTES_LINE_BYTES_MAX) {
      findings.add("gitattributesLineLength");
      break;
    }
    lineStart = at + 1;
  }
  return findings.list;
}

/**
 * Returns the findings of `git fsck` on a `.gitmodules` file.
 *
 * SECURITY: without these checks, a submodule's name, path, URL or update command can execute
 * commands or overwrite files in a recursive clone.
 *
 * @see CVE-2018-11235, CVE-2018-17456, CVE-2019-19604, CVE-2020-11008.
 */
export function checkGitmodules(content: Uint8Array, isStrict: boolean): Finding[] {
  const findings = new Findings(isStrict);
  if (content.length > CONFIG_BLOB_BYTES_MAX) {
    findings.add("gitmodulesLarge");
    return findings.list;
  }
  const { settings, isComplete } = parseSettings(readByteText(content));
  for (const { section, name, key, value } of settings) {
    if (section !== "submodule" || name === undefined) continue;
    if (!isSafeSubmoduleName(name)) findings.add("gitmodulesName");
    if (value === undefined) continue;
    if (key === "url" && !isSafeSubmoduleUrl(value)) findings.add("gitmodulesUrl");
    if (key === "path" && value.startsWith("-")) findings.add("gitmodulesPath");
    if (key === "update" && value.startsWith("!")) findings.add("gitmodulesUpdate");
  }
  if (!isComplete) findings.add("gitmodulesParse");
  return findings.list;
}

function isSafeSubmoduleName(name: string): boolean {
  return name !== "" && !name.split(/[\\/]/).includes("..");
}

/**
 * False for a URL that git would parse as an option, that passes a line feed to a credential
 * helper, or that is relative and climbs above the host.
 */
function isSafeSubmoduleUrl(url: string): boolean {
  if (url.startsWith("-")) return false;
  const isRelative = /^\.\.?[\\/]/.test(url);
  if (isRelative || url.startsWith("git://")) {
    const decoded = decodePercents(url);
    if (decoded.includes("\n")) return false;
    if (!isRelative) return true;
    // "../../:host" and "../../" followed by nothing resolve to an empty or foreign host.
    const rest = url.replace(/^(?:\.\.?[\\/])+/, "");
    const climbs = url.split(/[\\/]/).filter((part) => part === "..").length;
    return !(climbs > 0 && (rest.startsWith(":") || rest.startsWith("/")));
  }
  const transport = /^(?:https?|ftps?)(?:::|:\/\/)/.exec(url);
  if (transport) {
    const decoded = decodePercents(url.replace(/^(?:https?|ftps?)::/, ""));
    if (decoded.includes("\n")) return false;
    const host = /^[a-z]+:\/\/([^/?#]*)/i.exec(decoded)?.[1];
    return host !== undefined && host !== "";
  }
  return true;
}

function decodePercents(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
