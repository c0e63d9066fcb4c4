/** What is filled into a license. */
export interface LicenseBlanks {
  owner: string;
  year: number;
}

/** A license by its SPDX id, as written by those who assign the ids. */
export interface LicenseTemplate {
  id: string;
  text: string;
}

// Loaded on first use: most requests write no license.
const load = async () => (await import("../../../dist/templates/licenses.json")).default;

/** The ids of all licenses, in order. */
export async function listLicenses(): Promise<string[]> {
  return Object.keys((await load()).ids);
}

/** Finds a license by its id, whatever the case. */
export async function findLicense(wantedId: string): Promise<LicenseTemplate | undefined> {
  const { ids, texts } = await load();
  const lowerId = wantedId.toLowerCase();
  for (const [id, at] of Object.entries(ids)) {
    const text = texts[at];
    if (text !== undefined && id.toLowerCase() === lowerId) return { id, text };
  }
  return undefined;
}

/** Each text once, with the first of its ids: one that two share does not say "or later" itself. */
export async function listLicenseTexts(): Promise<LicenseTemplate[]> {
  const { ids, texts } = await load();
  return texts.flatMap((text, at) => {
    const id = Object.entries(ids).find(([, each]) => each === at)?.[0];
    return id === undefined ? [] : [{ id, text }];
  });
}

const YEAR = /<year>|\[year\]|\[yyyy\]/gi;
const OWNER =
  /<owner>|\[owner organization\]|<name of author>|[<[]copyright holders?[>\]]|\[name of copyright (?:owner|holder)\]/gi;

/** The text with the blanks filled that are to be filled by whoever uses the license. */
export const fillLicense = (text: string, { owner, year }: LicenseBlanks): string =>
  text.replaceAll(YEAR, () => String(year)).replaceAll(OWNER, () => owner);
