#include "crypto/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "crypto/random.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"

namespace presetbridge::crypto {
namespace {

namespace fs = std::filesystem;

class KeyFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "presetbridge-keys-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    private_ = directory_ / "vault.key";
    public_ = directory_ / "vault.pub";
    service_ = directory_ / "service.key";
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string content(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  static void write(const fs::path& path, const std::string& text, mode_t mode = 0600) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  static mode_t mode(const fs::path& path) {
    struct stat status{};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777;
  }
  std::vector<VaultKeyId> ids_of_public() const {
    std::vector<VaultKeyId> ids;
    const auto keys = read_vault_public_keys(public_);
    if (keys) std::ranges::transform(*keys, std::back_inserter(ids), &VaultPublicKey::id);
    return ids;
  }
  std::string code_of_private() { return read_vault_private_keys(private_).error().code; }

  SystemRandom random_;
  fs::path directory_, private_, public_, service_;
};

TEST_F(KeyFiles, AVaultKeyPairIsMadeOnceAndReadBack) {
  const auto made = create_vault_key_files(private_, public_, random_);
  ASSERT_TRUE(made);
  EXPECT_EQ(mode(private_), 0600u);
  EXPECT_EQ(mode(public_), 0644u);
  const auto ring = read_vault_private_keys(private_);
  const auto published = read_vault_public_keys(public_);
  ASSERT_TRUE(ring && published);
  ASSERT_EQ(published->size(), 1u);
  EXPECT_EQ(published->front().raw(), made->raw());
  EXPECT_EQ(ring->keys().size(), 1u);
  const RecordPlace place{AccountId{1}, 1};
  EXPECT_EQ(ring->open(place, published->front().seal(random_, place, "login"))->reveal(), "login");

  const auto before = content(private_);
  EXPECT_EQ(create_vault_key_files(private_, public_, random_).error().code, "KEY_FILE_EXISTS");
  fs::remove(public_);
  EXPECT_EQ(create_vault_key_files(private_, public_, random_).error().code, "KEY_FILE_EXISTS");
  EXPECT_EQ(content(private_), before);
  EXPECT_FALSE(fs::exists(public_));
}

TEST_F(KeyFiles, ThePublicFileHoldsNoPrivateKeyAndIsNotTakenForOne) {
  ASSERT_TRUE(create_vault_key_files(private_, public_, random_));
  ::chmod(public_.c_str(), 0600);
  EXPECT_EQ(read_vault_private_keys(public_).error().code, "KEY_FILE_INVALID");
  EXPECT_EQ(read_vault_public_keys(private_).error().code, "KEY_FILE_INVALID");
}

TEST_F(KeyFiles, ANewVaultKeyStandsInFrontOfBothFilesAndOldRecordsStillOpen) {
  const auto first = create_vault_key_files(private_, public_, random_);
  const RecordPlace place{AccountId{1}, 1};
  const auto record = first->seal(random_, place, "login");
  const auto second = add_vault_key(private_, public_, random_);
  ASSERT_TRUE(second);
  EXPECT_NE(second->raw(), first->raw());
  EXPECT_EQ(ids_of_public(), (std::vector{second->id(), first->id()}));
  EXPECT_EQ(mode(private_), 0600u);
  EXPECT_EQ(mode(public_), 0644u);
  {
    const auto ring = read_vault_private_keys(private_);
    ASSERT_EQ(ring->keys().size(), 2u);
    EXPECT_EQ(ring->newest().public_key().id(), second->id());
    EXPECT_EQ(ring->open(place, record)->reveal(), "login");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 2);
}

TEST_F(KeyFiles, OnlyKeysBehindTheOneThatIsKeptAreDropped) {
  const auto first = create_vault_key_files(private_, public_, random_);
  const auto second = add_vault_key(private_, public_, random_);
  const auto third = add_vault_key(private_, public_, random_);
  EXPECT_EQ(drop_vault_keys_behind(private_, public_, first->id()), 0);
  EXPECT_EQ(drop_vault_keys_behind(private_, public_, second->id()), 1);
  EXPECT_EQ(ids_of_public(), (std::vector{third->id(), second->id()}));
  EXPECT_EQ(drop_vault_keys_behind(private_, public_, second->id()), 0);
  EXPECT_EQ(drop_vault_keys_behind(private_, public_, first->id()).error().code, "KEY_FILE_INVALID");
  const auto ring = read_vault_private_keys(private_);
  ASSERT_EQ(ring->keys().size(), 2u);
  const RecordPlace place{AccountId{1}, 1};
  EXPECT_EQ(ring->open(place, first->seal(random_, place, "login")).error().code, "UNKNOWN_VAULT_KEY");
}

TEST_F(KeyFiles, APublicFileThatWasLeftBehindIsMended) {
  ASSERT_TRUE(create_vault_key_files(private_, public_, random_));
  const auto before = content(public_);
  ASSERT_TRUE(add_vault_key(private_, public_, random_));
  const auto after = content(public_);
  write(public_, before, 0644);  // killed between the two
  ASSERT_TRUE(publish_vault_keys(private_, public_));
  EXPECT_EQ(content(public_), after);
  const auto untouched = fs::last_write_time(public_);
  ASSERT_TRUE(publish_vault_keys(private_, public_));
  EXPECT_EQ(fs::last_write_time(public_), untouched);

  write(public_, after + before, 0644);
  EXPECT_EQ(read_vault_public_keys(public_).error().code, "KEY_FILE_INVALID") << "each key only once";
  write(public_, "presetbridge-vault-public-key-1 " + std::string(43, 'A') + "=\n", 0644);
  EXPECT_EQ(read_vault_public_keys(public_).error().code, "KEY_FILE_INVALID") << "a weak point";
}

TEST_F(KeyFiles, RotationPassesOverWhatACrashLeftAndFollowsALink) {
  ASSERT_TRUE(create_vault_key_files(private_, public_, random_));
  write(directory_ / "vault.key.new", "half of a ke");
  const auto link = directory_ / "link.key";
  fs::create_symlink(private_, link);
  ASSERT_TRUE(add_vault_key(link, public_, random_));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_vault_private_keys(private_)->keys().size(), 2u);
  EXPECT_FALSE(fs::exists(directory_ / "vault.key.new"));
}

TEST_F(KeyFiles, ASecretFileThatAnybodyElseMayReadOrWriteIsRefused) {
  ASSERT_TRUE(create_vault_key_files(private_, public_, random_));
  for (const mode_t open_mode : {0604u, 0602u, 0640u, 0620u, 0644u, 0666u}) {
    ::chmod(private_.c_str(), open_mode);
    EXPECT_EQ(code_of_private(), "KEY_FILE_EXPOSED") << open_mode;
  }
  ::chmod(private_.c_str(), 0400);
  EXPECT_TRUE(read_vault_private_keys(private_));
  ::chmod(public_.c_str(), 0664);
  EXPECT_EQ(read_vault_public_keys(public_).error().code, "KEY_FILE_EXPOSED");
}

TEST_F(KeyFiles, AnythingElseIsRefusedByItsPathAndNeverShown) {
  EXPECT_EQ(code_of_private(), "KEY_FILE_MISSING");
  ASSERT_TRUE(create_vault_key_files(private_, public_, random_));
  const auto good = content(private_);
  const std::string bad[] = {"",
                             "\n",
                             good + "\n",
                             good + good.substr(0, 40),
                             " " + good,
                             good.substr(0, good.size() - 3) + "\n",
                             good.substr(0, good.size() - 1) + " x\n",
                             "presetbridge-vault-private-key-2" + good.substr(32),
                             good.substr(0, good.size() - 1) + "\r\n",
                             std::string(70'000, 'x')};
  for (const auto& text : bad) {
    write(private_, text);
    const auto read = read_vault_private_keys(private_);
    ASSERT_FALSE(read) << text.size();
    EXPECT_EQ(read.error().code, "KEY_FILE_INVALID");
    EXPECT_EQ(read.error().message.find(good.substr(33, 20)), std::string::npos);
  }
  write(private_, good.substr(0, good.size() - 1));
  EXPECT_TRUE(read_vault_private_keys(private_)) << "a missing last line end is no fault";
  EXPECT_EQ(read_vault_private_keys(directory_).error().code, "KEY_FILE_INVALID") << "it is a directory";
}

TEST_F(KeyFiles, AFifoDoesNotMakeTheReaderWait) {
  ASSERT_EQ(::mkfifo(private_.c_str(), 0600), 0);
  EXPECT_EQ(code_of_private(), "KEY_FILE_INVALID");
}

TEST_F(KeyFiles, ServiceKeysAreMadeRotatedAndReadNewestFirst) {
  ASSERT_TRUE(create_service_key_file(service_, random_));
  EXPECT_EQ(mode(service_), 0600u);
  EXPECT_EQ(create_service_key_file(service_, random_).error().code, "KEY_FILE_EXISTS");
  const ValuePlace place{"integrations.secret", 1};
  auto first = read_service_keys(service_);
  ASSERT_TRUE(first);
  const auto id = first->front().id;
  const auto value = ServiceCipher(std::move(*first), random_).encrypt(place, "store-secret");

  ASSERT_TRUE(add_service_key(service_, random_));
  EXPECT_EQ(mode(service_), 0600u);
  auto both = read_service_keys(service_);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[1].id, id);
  const auto newest = both->front().id;
  const ServiceCipher cipher(std::move(*both), random_);
  EXPECT_EQ(cipher.decrypt(place, value)->reveal(), "store-secret");

  EXPECT_EQ(drop_service_keys_behind(service_, id), 0);
  EXPECT_EQ(drop_service_keys_behind(service_, newest), 1);
  EXPECT_EQ(mode(service_), 0600u);
  EXPECT_EQ(read_service_keys(service_)->size(), 1u);
  EXPECT_EQ(read_service_keys(service_)->front().id, newest);
  EXPECT_EQ(drop_service_keys_behind(service_, id).error().code, "KEY_FILE_INVALID");

  const auto text = content(service_);
  write(service_, text + text);
  EXPECT_EQ(read_service_keys(service_).error().code, "KEY_FILE_INVALID") << "each id only once";
  write(service_, "presetbridge-service-key-1 a1a2a3a4a5a6a7a8\n");
  EXPECT_EQ(read_service_keys(service_).error().code, "KEY_FILE_INVALID");
}

}  // namespace
}  // namespace presetbridge::crypto
