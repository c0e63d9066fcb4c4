/**
 * The digests of a version's tarball, and what it holds. Its address is not stored: it depends on
 * the service's.
 */
export interface Dist {
  readonly integrity: string;
  readonly shasum: string;
  readonly fileCount: number;
  readonly unpackedSize: number;
  readonly attestations?: { readonly provenance: { readonly predicateType: string } };
}

/**
 * The metadata of a version: its `package.json` with all fields as the client sent them, and what
 * the registry knows.
 *
 * @see docs.npmjs.com/cli/configuring-npm/package-json;
 *   github.com/npm/registry/blob/main/docs/responses/package-metadata.md.
 */
export interface Manifest extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly version: string;
  readonly dist: Dist;
  readonly deprecated?: string;
  readonly readme?: string;
}
