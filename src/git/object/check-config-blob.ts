import { readByteText } from "../byte-text.ts";
import { type Finding, Findings, type FindingSeverities } from "./finding.ts";
import { parseSettings } from "./parse-settings.ts";

/**
 * Maximum size of a `.gitmodules` or `.gitattributes` file that is read, in bytes. Git reads
 * attributes of up to 100 MB.
 */
const CONFIG_BLOB_BYTES_MAX = 4 * 1024 * 1024;

/** Longest line of a `.gitattributes` file, in bytes without line feed, as in git's reader. */
const ATTRIBUTES_LINE_BYTES_MAX = 2047;

/** Returns the findings of `git fsck` on a `.gitattributes` file. */
export function checkGitattributes(content: Uint8Array, severities: FindingSeverities): Finding[] {
  const findings = new Findings(severities);
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
export function checkGitmodules(content: Uint8Array, severities: FindingSeverities): Finding[] {
  const findings = new Findings(severities);
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
 * helper, that is relative and climbs above the host, or that git's HTTP client refuses.
 */
function isSafeSubmoduleUrl(url: string): boolean {
  if (url.startsWith("-")) return false;
  const [leading = ""] = /^(?:\.\.?[\\/])*/.exec(url) ?? [];
  if (leading !== "" || url.startsWith("git://")) {
    if (decodePercents(url).includes("\n")) return false;
    // "../../:host" and "..//host" resolve to an empty or foreign host.
    return !(leading.includes("..") && /^[:/]/.test(url.slice(leading.length)));
  }
  const transport = /^(?:https?|ftps?)(?:::|(?=:\/\/))/.exec(url);
  if (!transport) return true;
  const address = url.slice(transport[0].endsWith("::") ? transport[0].length : 0);
  return isNormalizableUrl(address) && !decodePercents(address).includes("\n");
}

/**
 * True for a URL with a host, and without wrong escapes and ports.
 *
 * @see url_normalize in git's urlmatch.c.
 */
function isNormalizableUrl(url: string): boolean {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(url);
  if (!scheme) return false;
  const rest = url.slice(scheme[0].length);
  if (/%(?![0-9a-fA-F]{2})/.test(rest)) return false;
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? "";
  const host = authority.slice(authority.indexOf("@") + 1);
  const colon = host.lastIndexOf(":");
  const nameEnd = colon > Math.max(0, host.lastIndexOf("]")) ? colon : host.length;
  if (!/^[A-Za-z0-9._[\]-][A-Za-z0-9._[\]:-]*$/.test(host.slice(0, nameEnd))) return false;
  const port = host.slice(nameEnd + 1).replace(/^0+(?=\d)/, "");
  if (port !== "" && !(/^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535)) return false;
  return true;
}

function decodePercents(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
