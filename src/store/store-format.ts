export { NEWEST_SCHEMA as STORE_FORMAT } from './sqlite/schema-version.ts';
