/** Put together here, so that no search for keys finds one in this file. */
export const a1B2 = (length: number): string => 'a1B2'.repeat(50).slice(0, length);
export const BASIC = 'YWRtaW46aHVudGVyMjIyMg==';

/** A name, what stands before the secret in its value, and the secret: one or more for each form that has a name. */
export const NAMED: readonly (readonly [string, string, string])[] = [
  ['AWS_SECRET_ACCESS_KEY', '', a1B2(40)],
  ['SecretAccessKey', '', a1B2(40)],
  ['aws-secret-key', '', a1B2(40)],
  ['AWS_SESSION_TOKEN', '', a1B2(60)],
  ['X-Amz-Security-Token', '', a1B2(60)],
  ['Authorization', 'Basic ', BASIC],
  ['authorization', 'Bearer ', 'ab12cd34ef56gh78'],
  ['Proxy-Authorization', 'Basic ', 'YTpiYzEyMzQ='],
  ['Authorization', '', a1B2(20)],
  ['Authorization', 'Token ', 'ab12cd34'],
  ['Authorization', 'Digest ', `username="u", response="${'6629fae4'.repeat(4)}`],
  ['//registry.npmjs.org/:_authToken', '', '00000000-1111-2222-3333-aaaaaaaaaaaa'],
  ['_authToken', '', a1B2(36)],
  ['//r/:_auth', '', BASIC],
  ['_auth', '', BASIC],
  ['X-Api-Key', '', a1B2(40)],
  ['x_api_key', '', a1B2(16)],
];
