// Verifies credentials with the libraries of Digital Bazaar: `node credentials.mjs FILE`, where the file has the credentials by name,
// and the documents of the service by address. Writes by name whether each was verified and for which purposes its status is set.
import {readFileSync} from 'node:fs';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import {createVerifyCryptosuite} from '@digitalbazaar/eddsa-jcs-2022-cryptosuite';
import {defaultDocumentLoader, verifyCredential} from '@digitalbazaar/vc';
import {checkStatus} from '@digitalbazaar/vc-bitstring-status-list';
import jsonld from 'jsonld';

const {credentials, documents} = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const suite = new DataIntegrityProof({cryptosuite: createVerifyCryptosuite()});

async function documentLoader(url) {
  const [address, fragment] = url.split('#');
  let document = documents[address];
  if(document === undefined) {
    return defaultDocumentLoader(url);
  }
  if(fragment && address.startsWith('did:')) {
    document = document.verificationMethod.find(method => method.id === url);
    if(document === undefined) {
      throw new Error(`${url} is no key of the issuer`);
    }
    document = {'@context': 'https://w3id.org/security/multikey/v1', ...document};
  }
  return {contextUrl: null, documentUrl: url, document};
}

const results = {};
for(const [name, credential] of Object.entries(credentials)) {
  const result = await verifyCredential({credential, suite, documentLoader, checkStatus});
  if(result.verified) {
    // Throws where a term is in none of the contexts.
    await jsonld.expand(credential, {documentLoader, safe: true});
  }
  const statuses = result.statusResult?.results ?? [];
  results[name] = {
    verified: result.verified,
    ended: statuses.filter(each => each.status).map(each => each.credentialStatus.statusPurpose),
    error: result.error?.errors?.map(String).join('; ') ?? String(result.error ?? '')
  };
}
console.log(JSON.stringify(results));
