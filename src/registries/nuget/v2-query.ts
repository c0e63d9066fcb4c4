import { malformed } from "../../lib/failure.ts";
import type { RegistryContext } from "../env.ts";
import { compareNugetVersions, parseNugetVersion } from "./nuget-version.ts";
import { type ODataEntry, type ODataFilter, parseFilter } from "./odata-filter.ts";
import { readResultRange, type ResultRange } from "./search.ts";
import { FILTER_PROPERTIES } from "./v2-documents.ts";

/** How a request of version 2 of the protocol restricts and orders a list. */
export interface V2Query extends ResultRange {
  readonly filter: ODataFilter | undefined;
  /** Compares two entries; 0 keeps them in the order of ids and versions. */
  readonly compare: (left: ODataEntry, right: ODataEntry) => number;
  /** Whether the number of all results is shown. */
  readonly hasTotal: boolean;
  readonly hasPrereleases: boolean;
  readonly hasSemVer2: boolean;
}

/** @throws Failure `malformed` for a filter or an order that is not understood. */
export function readV2Query({ req }: RegistryContext): V2Query {
  const filter = req.query("$filter") ?? "";
  const order = req.query("$orderby") ?? "";
  return {
    ...readResultRange(req.query("$skip"), req.query("$top")),
    filter: filter.trim() === "" ? undefined : parseFilter(filter, FILTER_PROPERTIES),
    compare: parseOrder(order),
    hasTotal: req.query("$inlinecount") === "allpages",
    hasPrereleases: readText(req.query("includePrerelease")) === "true",
    hasSemVer2: readText(req.query("semVerLevel")).startsWith("2.0.0"),
  };
}

/** A parameter, which may be quoted as OData quotes texts. */
export function readText(value: string | undefined): string {
  const text = value ?? "";
  return /^'.*'$/s.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;
}

/** The key of an entry: `Packages(Id='x',Version='1.0.0')`. @returns Undefined for another path. */
export function parseEntryPath(path: string): { id: string; version: string } | undefined {
  const [, id, version] = /^Packages\(Id='([^']*)',\s*Version='([^']*)'\)$/.exec(path) ?? [];
  return id === undefined || version === undefined ? undefined : { id, version };
}

type Compare = V2Query["compare"];

const KEYS_MAX = 5;

function parseOrder(text: string): Compare {
  const keys = text.split(",").filter((key) => key.trim() !== "");
  if (keys.length > KEYS_MAX) throw malformed("the order has too many properties");
  const compares = keys.map((key): Compare => {
    const [, property = "", direction] = /^\s*(\w+)(?:\s+(asc|desc))?\s*$/i.exec(key) ?? [];
    if (!FILTER_PROPERTIES.has(property)) {
      throw malformed("the order is not one of the properties that packages have");
    }
    const sign = direction?.toLowerCase() === "desc" ? -1 : 1;
    return (left, right) => sign * compareBy(property, left, right);
  });
  return (left, right) => {
    for (const compare of compares) {
      const order = compare(left, right);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function compareBy(property: string, left: ODataEntry, right: ODataEntry): number {
  const [a = "", b = ""] = [left[property], right[property]];
  if (property === "Version" || property === "NormalizedVersion") {
    const [one, other] = [parseNugetVersion(String(a)), parseNugetVersion(String(b))];
    return one && other ? compareNugetVersions(one, other) : 0;
  }
  const [one, other] = typeof a === "string" ? [a.toLowerCase(), String(b).toLowerCase()] : [a, b];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
