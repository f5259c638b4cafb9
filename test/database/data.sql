-- Made-up data with what a dump may lose: blobs, a view, a trigger, a routine,
-- an event, names beyond ASCII, an empty table.
CREATE DATABASE user_profiles CHARACTER SET utf8mb4;
USE user_profiles;

CREATE TABLE users (
  id INT PRIMARY KEY,
  name VARCHAR(100) NOT NULL,
  joined DATETIME(6) NOT NULL,
  score DECIMAL(12, 4),
  notes JSON
);
INSERT INTO users
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
SELECT i, CONCAT('Zoë Ünal ', i, ' 🙂'), TIMESTAMPADD(MINUTE, i * 977, '2020-01-01 00:00:00.000123'), i * 3.1415, JSON_OBJECT('n', i, 'quote', '"\'\\')
FROM n;

CREATE TABLE avatars (user_id INT PRIMARY KEY, picture LONGBLOB, FOREIGN KEY (user_id) REFERENCES users (id));
INSERT INTO avatars SELECT id, REPEAT(UNHEX(CONCAT('00FF0A0D275C', LPAD(HEX(id), 6, '0'))), 200) FROM users;

CREATE TABLE `odd name-täble` (`select` INT PRIMARY KEY, `a b` TEXT);
INSERT INTO `odd name-täble` VALUES (1, '-- no comment; \\ \n \0 end'), (2, NULL), (3, '');

CREATE TABLE empty_table (id INT PRIMARY KEY);

CREATE TABLE audit_log (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TRIGGER users_audit AFTER UPDATE ON users FOR EACH ROW INSERT INTO audit_log (user_id) VALUES (NEW.id);
UPDATE users SET score = score + 1 WHERE id <= 10;

CREATE VIEW best AS SELECT name, score FROM users ORDER BY score DESC LIMIT 10;
CREATE FUNCTION double_it (n INT) RETURNS INT DETERMINISTIC RETURN n * 2;
CREATE EVENT cleanup_log ON SCHEDULE EVERY 1 DAY DO DELETE FROM audit_log WHERE at < NOW() - INTERVAL 90 DAY;

-- The user that makes backups, with no more than that takes.
CREATE USER 'example-user'@'%' IDENTIFIED BY 'example-password-change-me';
GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO 'example-user'@'%';
