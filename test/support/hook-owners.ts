import { make, type TestUser } from "./make.ts";

/** A scope that owns hooks, as test data. */
export interface HookOwnerFixture {
  /** Path of the hooks. */
  path: string;
  /** Path of another owner's hooks. */
  elsewhere: string;
  /** A user who administers both owners. */
  admin: TestUser;
  /** Callers without permission, and the status that each receives. */
  refused: { who: TestUser | undefined; status: number }[];
  row: object;
}

/** Creates a fresh owner of each level. */
export const HOOK_OWNERS: Record<string, () => Promise<HookOwnerFixture>> = {
  repository: async () => {
    const admin = await make.user();
    const [repo, other] = [await make.repo(admin), await make.repo(admin)];
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    return {
      path: `/repos/${admin.name}/${repo.name}/hooks`,
      elsewhere: `/repos/${admin.name}/${other.name}/hooks`,
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: writer, status: 403 },
        { who: await make.user(), status: 403 },
      ],
      row: { level: "repository", repoId: repo.id, ownerId: null },
    };
  },
  organization: async () => {
    const admin = await make.user();
    const [org, other] = [await make.org([admin]), await make.org([admin])];
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 3 }), member);
    return {
      path: `/orgs/${org.name}/hooks`,
      elsewhere: `/orgs/${other.name}/hooks`,
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: member, status: 403 },
        { who: await make.user(), status: 403 },
      ],
      row: { level: "organization", repoId: null, ownerId: org.id },
    };
  },
  user: async () => {
    const admin = await make.user();
    const org = await make.org([admin]);
    return {
      path: "/user/hooks",
      elsewhere: `/orgs/${org.name}/hooks`,
      admin,
      refused: [{ who: undefined, status: 401 }],
      row: { level: "user", repoId: null, ownerId: admin.id },
    };
  },
  service: async () => ({
    path: "/admin/hooks",
    elsewhere: "/user/hooks",
    admin: await make.admin(),
    refused: [
      { who: undefined, status: 401 },
      { who: await make.user(), status: 403 },
    ],
    row: { level: "default", repoId: null, ownerId: null },
  }),
};
